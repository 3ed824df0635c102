"""The agents' port: strangers who stand at its door, and an agent that sends what is costly to keep.

Run by meson (suite hostile), or by hand: python3 tests/hostile/agents_test.py --build build [TestName]
"""

import subprocess
import time

from attacked import PATIENCE, ROOMIER, WELCOME, Hostile, Watch
from trial import Caller, run_tests


class ChosenNames(Hostile):
    """A catalog of names that collide once cost two seconds of the loop that takes all agents' values, each time that the agent came back."""

    def test_a_node_whose_names_all_collide_delays_nobody(self):
        folder = self.trial.folder / "prom"
        folder.mkdir()
        text = subprocess.run([self.trial.build / "tests/hostile/chosen-names", "1000"], capture_output=True, text=True, timeout=PATIENCE, check=True).stdout
        (folder / "chosen.prom").write_text(text)
        some = [text.splitlines()[i].partition("{")[0] for i in (0, len(text.splitlines()) // 2, -1)]
        self.begin()
        calm = self.watch_filter()
        self.asked_again(calm, times=50)
        self.assert_served(filter=calm)
        scheduler, values = self.watch_filter(), Watch(lambda: self.assertTrue(self.trial.metric("rapl_power_watts", "good")))
        self.addCleanup(values.stop)
        for again in range(5):
            self.trial.start_agent("late", "--sources", "textfile", "--textfile-directory", folder, name=f"late-{again}")
            for name in some:
                self.wait_for(f"the values of {name}", lambda: self.trial.metric(name, "late"))
            self.trial.end(f"late-{again}", seconds=PATIENCE)
            self.wait_for("its end", lambda: self.counted("binnacle_sessions") == 1)
        self.asked_again(scheduler, values)
        self.assert_served(filter=scheduler, values=values)
        self.assertEqual(values.failed, [])
        self.assert_the_agent_stayed()


class LabelsInOtherOrder(Hostile):
    """Catalogs of 10,000 series with as many labels as there may be, whose counters have them in the other order than their gauges. To find out what a metric
    means there once took 0.1 to 0.2 s of the loop that answers probes and the scheduler: for each new catalog, and for each question with another selector."""

    ONCE_TOOK = 719 * ROOMIER  # ms: the median of /livez under thirty who ask

    def ask(self, pause, selector=lambda: ""):
        """Asks for the watts of the attacker's node on one connection, again and again."""
        caller = Caller(self.trial.ports["metrics"], self.trial.pki, "cli", PATIENCE)
        self.addCleanup(caller.__exit__)

        def once():
            status, text, _ = caller.request("GET", "/apis/custom.metrics.k8s.io/v1beta2/nodes/late/rapl_power_watts" + selector())
            # Who costs more is read more slowly: on a busy machine the attacker's own value may be old.
            if status != 200 and "stale: last read" not in text:
                raise RuntimeError(f"{status}: {text}")

        watch = Watch(once, pause)
        self.addCleanup(watch.stop)
        return watch

    def test_questions_about_such_a_node_delay_nobody(self):
        self.begin()
        calm = {"filter": self.watch_filter(), "health": self.watch_health()}
        self.asked_again(*calm.values(), times=50)
        self.assert_served(**calm)
        key = [self.trial.pki / f"node-late.{what}" for what in ("crt", "key")]
        self.trial.start("other-order", self.trial.build / "tests/hostile/other-order", self.trial.ports["ingest"], *key, "late")
        self.wait_for("the watts of the attacker's node", lambda: self.trial.metric("rapl_power_watts", "late"))

        def another():  # a selector that nobody asked with before
            return f"?metricLabelSelector=%21absent-{next(self.numbers)}"

        # The node's value is there when the node is read: almost all series of a catalog were in the one before.
        for name, many, options in (("one who asks after each catalog", 1, {"pause": 1}), ("thirty who select series", 30, {"pause": 0.05, "selector": another})):
            with self.subTest(name):
                print(f"\n    {name}:", end="")
                questions = [self.ask(**options) for _ in range(many)]
                scheduler, health = self.watch_filter(), self.watch_health()
                self.asked_again(scheduler, health, *questions, times=15)
                for watch in questions:
                    watch.stop()
                    self.assertEqual(watch.failed, [])
                self.assert_served(filter=scheduler, health=health, question=questions[0])
                self.assertLess(sorted(health.took)[len(health.took) // 2], self.ONCE_TOOK)
        self.assertEqual(self.counted("binnacle_sessions"), 2, "the attacker was there all the time")


class GreetingPlaces(Hostile):
    """1,500 silent sockets at the agents' port once kept a valid agent out for 86 seconds."""

    def until_late_is_in(self):
        def welcomes():  # the agent's word: the aggregator's lines about one node are throttled
            return self.trial.log("late").count("connected to replica")

        before, began = welcomes() if (self.trial.logs / "late.log").exists() else 0, time.monotonic()
        self.trial.start_agent("late")
        self.wait_for("the second agent", lambda: welcomes() > before)
        took = time.monotonic() - began
        self.trial.end("late", seconds=PATIENCE)
        self.wait_for("its end", lambda: self.counted("binnacle_sessions") == 1)
        return took

    def test_a_valid_agent_gets_in_whatever_strangers_say_at_its_door(self):
        self.begin()
        calm = max(self.until_late_is_in() for _ in range(2))
        # How a stranger ends who says hello and no more depends on how many fit into a handshake's time.
        for say, reasons in (("nothing", ["silent"]), ("noise", ["no_client_hello"]), ("half-hello", ["silent"]), ("hello", ["evicted", "handshake"])):
            with self.subTest(say=say):
                before = self.refused(*reasons)
                # A third of them comes from the /24 of those who behave.
                crowd = self.crowd(self.trial.ports["ingest"], many=1500, say=say, networks=3, first=0)
                self.wait_for(f"strangers to be counted as {reasons}", lambda: self.refused(*reasons) > before + 100)
                took = [self.until_late_is_in() for _ in range(3)]
                print(f"\n    {say}: the agent was in after {', '.join(f'{one:.2f}' for one in took)} s, its start included; calm: {calm:.2f} s", end="")
                # The crowd's own process takes time of the same CPUs: on a busy machine a calm start is slow, too.
                self.assertLess(min(took), WELCOME + 4 * calm)
                self.end_crowd(crowd)
        self.assert_the_agent_stayed()


if __name__ == "__main__":
    run_tests(__doc__, "attacked")
