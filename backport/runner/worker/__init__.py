"""Runs inside the branch's own Python, 2.7 included; its files find each other as scripts."""
