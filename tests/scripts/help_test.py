"""Each script with options says how it is used. So it finds what it imports, too: no test runs a benchmark, and a file may have moved since."""

import pathlib
import re
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPTS = [path for folder in ("scripts", "tests") for path in sorted((ROOT / folder).rglob("*.py"))
           if all(word in path.read_text() for word in ("argparse.ArgumentParser", '__name__ == "__main__"'))]
OURS = {path.stem for path in ROOT.glob("*/**/*.py")} | {path.name for path in ROOT.glob("tests/**/") if any(path.glob("*.py"))}


class Help(unittest.TestCase):
    def test_each_script_says_how_it_is_used(self):
        self.assertGreater(len(SCRIPTS), 15)
        for script in SCRIPTS:
            with self.subTest(script=str(script.relative_to(ROOT))):
                done = subprocess.run([sys.executable, script, "--help"], capture_output=True, text=True, timeout=60)
                missing = re.search(r"No module named '([\w.]+)'", done.stderr)
                if missing and missing[1].partition(".")[0] not in OURS:
                    self.skipTest(f"Python's {missing[1]} is not installed")
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertTrue(done.stdout.startswith("usage: "), done.stdout)


if __name__ == "__main__":
    unittest.main()
