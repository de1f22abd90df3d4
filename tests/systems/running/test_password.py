"""A private server's password is long, and another each time."""

from dbdyno.systems.running.password import random_password


def test_a_password_needs_no_quotes_and_is_another_each_time():
    passwords = {random_password() for _ in range(100)}
    assert len(passwords) == 100
    assert all(len(password) >= 32 and password.isalnum() for password in passwords)
