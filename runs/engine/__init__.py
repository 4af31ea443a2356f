"""Runs an agent: loop > middleware > tools | llm | sandbox > ports > window | policy > tokens > events > messages.

Plain Python. Nothing in here knows Django, Celery, Channels or Redis.
"""
