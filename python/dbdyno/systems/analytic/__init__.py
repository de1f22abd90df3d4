"""Stores for whole tables: column stores as libraries and as servers."""
