"""Cases about the running product, each with the tests that hold its whole kind: id → file::test."""

from __future__ import annotations

from collections.abc import Mapping

ELSEWHERE: Mapping[str, tuple[str, ...]] = {
    "C16": (
        "runner/test_races.py::test_compact_pressed_twice_while_the_llm_answers_is_one_compaction_after_the_turn",
        "control/test_orders.py::test_fifty_who_press_at_once_make_one_compaction",
        "chaos/test_orders.py::test_fifty_press_compact_at_once_and_one_presses_again_on_an_old_screen",
    ),
    "D01": (
        "chaos/test_killed.py::test_a_run_that_is_killed_again_and_again_does_every_errand_at_most_once",
        "store/test_archive.py::test_a_write_that_does_not_fit_leaves_nothing",
    ),
    "D03": (
        "runner/test_races.py::test_of_workers_that_come_at_once_one_asks_the_llm",
        "store/test_lease.py::test_of_many_who_claim_at_once_one_gets_it",
        "store/test_lease.py::test_a_stale_owner_cannot_write",
        "chaos/test_forked.py::test_two_workers_that_want_one_run_never_both_have_it",
    ),
    "D05": ("store/test_kept.py::test_messages_have_the_same_numbers_each_time_they_are_loaded",),
    "D07": (
        "store/test_kept.py::test_a_turn_between_two_compactions_still_has_the_window_it_had",
        "store/test_kept.py::test_the_first_episode_is_the_same_after_the_second",
        "runner/test_taking_back.py::test_the_window_is_the_one_before_and_what_came_after",
    ),
    "E01": (
        "live/test_out_of_order.py::test_each_event_is_shown_once_and_in_order",
        "live/test_page_module.py::test_a_message_lost_on_the_way_is_asked_for_again",
        "chaos/test_watching.py::test_pages_that_are_cut_off_again_and_again_see_every_event_once",
    ),
    "E03": (
        "live/test_catching_up.py::test_who_lacks_more_gets_the_page_anew",
        "live/test_catching_up.py::test_a_page_that_knows_more_than_the_archive_is_told_and_can_ask_for_the_page_anew",
        "live/test_page_module.py::test_after_a_long_absence_the_page_is_drawn_anew_without_a_reload",
    ),
    "E04": (
        "web/test_orders.py::test_the_same_form_sent_twice_is_one_order",
        "web/test_orders.py::test_without_js_a_form_leads_back_to_the_run",
        "web/test_fleet.py::test_a_page_that_is_up_to_date_gets_no_body",
    ),
    "E06": (
        "web/test_run_page.py::test_older_turns_come_on_demand_without_a_gap",
        "web/test_run_page.py::test_opening_a_long_run_asks_no_more_than_opening_a_short_one",
        "present/test_chart.py::test_a_long_run_is_sent_in_few_points_with_its_peaks",
    ),
    "E07": (
        "web/test_hostile_text.py::test_no_page_has_anything_active_in_it",
        "web/test_hostile_text.py::test_the_same_rows_come_over_the_socket",
        "web/test_approving.py::test_hostile_text_in_a_call_is_only_text",
        "stories/test_no_violations.py::test_no_page_offends_the_policy_it_is_served_with",
    ),
    "E09": (
        "live/test_typing.py::test_events_come_before_the_letters_that_follow_them",
        "live/test_typing.py::test_letters_of_one_block_are_joined",
        "store/test_archive.py::test_a_turn_leaves_its_events_in_order",
    ),
    "E10": (
        "store/test_queries.py::test_sparklines_come_in_one_query_and_end_with_the_last_turn",
        "web/test_archive.py::test_the_archive_pages_by_turn_and_no_turn_is_missing_or_doubled",
    ),
    "E12": ("cases/test_cases.py::test_no_page_needs_what_only_https_has",),
    "E13": ("web/test_hostile_text.py::test_a_picture_is_never_put_into_a_page",),
    "F01": (
        "chaos/test_broker.py::test_hints_that_come_twice_never_or_as_nonsense",
        "runner/test_walking.py::test_a_run_that_somebody_holds_is_left_alone",
    ),
    "F02": (
        "chaos/test_stopping.py::test_stop_now_works_from_everywhere",
        "runner/test_orders.py::test_stop_ends_the_run_and_a_word_wakes_it",
    ),
    "F04": (
        "chaos/test_forked.py::test_what_a_dying_worker_leaves_is_taken_up",
        "store/test_lease.py::test_a_crash_inside_a_turn_counts",
    ),
    "F05": (
        "live/test_typing.py::test_letters_of_one_block_are_joined",
        "live/test_catching_up.py::test_the_last_bell_of_many_is_never_lost",
        "chaos/test_watching.py::test_half_of_the_bells_may_be_lost",
    ),
    "F07": (
        "shell/test_env.py::test_a_half_set_group_says_what_is_missing",
        "shell/test_serving.py::test_a_worker_of_its_own_needs_redis_and_postgres",
        "live/test_catching_up.py::test_an_event_whose_bell_was_lost_arrives_all_the_same",
    ),
    "F08": (
        "live/test_catching_up.py::test_a_page_gets_what_happened_since_it_was_drawn",
        "cases/test_cases.py::test_nothing_switches_djangos_guard_against_queries_in_the_loop_off",
    ),
    "F09": (
        "store/test_kept.py::test_many_writers_and_a_reader_never_meet_a_locked_database",
        "shell/test_database.py::test_the_database_has_the_modes_the_archive_relies_on",
        "chaos/test_database.py::test_a_lock_of_fifteen_seconds_goes_unnoticed",
    ),
    "F11": (
        "live/test_who_may_listen.py::test_a_browser_that_takes_nothing_is_left_and_others_are_not_held_up",
        "chaos/test_watching.py::test_a_browser_that_reads_nothing_is_left_and_costs_little",
    ),
    "F12": (
        "runner/test_taking_up.py::test_a_call_that_was_begun_and_left_is_told_as_unknown",
        "chaos/test_killed.py::test_a_run_that_is_killed_again_and_again_does_every_errand_at_most_once",
    ),
}

IMPORTS = ("G01", "G03", "G04", "G06", "G07", "G09", "G11")
"""They come with the importers."""
