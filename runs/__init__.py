"""The house: runs of agents, from the engine up to the page.

    engine/      plain Python: runs an agent; knows no table, socket or page
    models       the tables                     store/    what is read from and written to them
    present/     what pages and sockets show    live/     pushes it down to browsers
    runner       engine, store and bell meet    tasks     the Celery door
    control      the verbs people have          web/      urls, views, forms, JSON

Arrows only point down: web > control > tasks > runner > live > present > store > models > engine.
"""
