"""Tests of dbdyno.systems.tokyotyrant."""
