"""Addresses of sockets."""

from __future__ import annotations

from django.urls import path

from runs.live.consumers import RunConsumer

sockets = [path("ws/runs/<slug:slug>/", RunConsumer.as_asgi())]
