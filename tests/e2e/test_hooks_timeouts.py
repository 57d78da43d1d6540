"""Time-outs of extensions, reached by 20 coroutines at once: in time, and with what plain PHP gives
(fixtures/hooks/timeouts.php)."""

import re

from concurrent.futures import ThreadPoolExecutor

from hooks import FOLDER, INSIDE, OUTSIDE, PLAIN, HookCase, each, kinds_of

NAMES = re.findall(r"^    '([^']+)' => \[", (FOLDER / "timeouts.php").read_text(), re.M)


def in_time(self, name):
    kinds = kinds_of(name)
    with ThreadPoolExecutor(3) as pool:
        ways = [(0, PLAIN), (0, OUTSIDE), (20, INSIDE)]
        plain, outside, inside = pool.map(
            lambda way: self.json(FOLDER / "in_time.php", name, way[0], mode=way[1], kinds=kinds), ways
        )
    self.assertEqual(plain["told"], outside["told"])
    self.assertEqual(plain["told"], inside["told"])
    # Not before, not much later however busy the machine is, and not one after the other.
    self.assertGreaterEqual(inside["shortest"], min(inside["limit"] * 0.9, plain["shortest"] * 0.9), inside)
    self.assertLess(inside["longest"], plain["longest"] + 20, (plain, inside))
    self.assertGreater(inside["sum"], inside["whole"] * 2, inside)


@each(NAMES, in_time)
class InTime(HookCase):
    pass
