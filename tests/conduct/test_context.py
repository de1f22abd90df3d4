"""A context says what ends a load client early."""


def test_a_load_client_ends_with_the_run_and_with_its_server(context):
    running = context()
    supervision = running.supervision(lambda: "dead")
    assert (supervision.guard, supervision.interrupts) == (running.guard, running.interrupts)
    assert supervision.death() == "dead" and running.supervision().death is None
