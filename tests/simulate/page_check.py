#!/usr/bin/python3
"""Opens a report of `cox simulate --html` in headless Chromium: page_check.py PAGE [SCREENSHOT].

Every plot must be drawn, the mouse must work on it, no script may fail, and nothing may be asked of
any network. Needs Debian's chromium-headless-shell or chromium (some 300 MB with what they need),
so it is not among what setup installs. Exit 77: there is no Chromium.
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
PLOTS = ("used", "queue", "fragmented", "waits", "share", "gantt")

# Runs before the page's own script, and after it.
BEFORE = """<script>
window.failures = [];
window.addEventListener("error", (event) => window.failures.push(event.message));
</script>"""
AFTER = """<script>{
const at = (where, kind, x) => {
  const box = where.getBoundingClientRect();
  where.dispatchEvent(new MouseEvent(kind, {bubbles: true, cancelable: true,
    clientX: box.left + x * box.width, clientY: box.top + box.height / 2}));
};
const found = {};
for (const plot of %s) {
  const svg = document.querySelector(`#${plot} svg`);
  found[plot] = svg === null ? 0 : svg.querySelectorAll("path, rect.bar").length;
  if (svg === null) continue;
  at(svg, "mousemove", .5);
  if (plot !== "gantt" && document.getElementById("tip").textContent === "")
    window.failures.push(plot + ": the mouse shows nothing");
}
const bar = document.querySelector("#gantt rect.bar");
if (bar !== null) at(bar, "mousemove", .5);
const ticks = () => [...document.querySelectorAll("#gantt svg text")].map((t) => t.textContent).join();
const before = ticks();
const chart = document.querySelector("#gantt svg");
at(chart, "mousedown", .5); at(chart, "mousemove", .6); at(chart, "mouseup", .7);
if (ticks() === before) window.failures.push("gantt: dragging changes nothing");
document.getElementById("out").click();
if (ticks() !== before) window.failures.push("gantt: there is no way back");
for (const id of ["share-of", "gantt-of"]) {
  const select = document.getElementById(id);
  select.value = select.options.length - 1;
  select.dispatchEvent(new Event("change"));
}
const verdict = document.createElement("pre");
verdict.id = "verdict";
verdict.textContent = JSON.stringify({found, failures: window.failures,
  wide: document.documentElement.scrollWidth > innerWidth, rows: document.querySelectorAll("#overview tr").length});
document.body.append(verdict);
}
</script>""" % json.dumps(PLOTS)


def chromium():
    for name in ("chromium-headless-shell", "chromium"):
        if path := shutil.which(name):
            return path
    return None


def browse(browser, page, folder, *more):
    return subprocess.run(
        [browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
         "--window-size=1200,2700", f"--user-data-dir={folder}/profile", *more, page.as_uri()],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, timeout=120, check=True).stdout


def asked_for(net_log):
    """What was fetched but the page itself."""
    urls = re.findall(r'"url":\s*"([^"]*)"', net_log.read_text(encoding="utf-8", errors="replace"))
    return sorted({url for url in urls if re.match(r"(https?|wss?|ftp):", url)})


def main():
    if len(sys.argv) not in (2, 3):
        print(__doc__, file=sys.stderr)
        return 2
    browser = chromium()
    if browser is None:
        print("skipped: no chromium here")
        return SKIPPED
    original = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        page = pathlib.Path(folder) / "page.html"
        text = original.read_text(encoding="utf-8")
        page.write_text(text.replace("<head>", "<head>" + BEFORE, 1).replace("</body>", AFTER + "</body>", 1),
                        encoding="utf-8")
        net_log = pathlib.Path(folder) / "net.json"
        shown = browse(browser, page, folder, "--dump-dom", f"--log-net-log={net_log}")
        if len(sys.argv) == 3:
            browse(browser, original, folder, f"--screenshot={pathlib.Path(sys.argv[2]).resolve()}")
        urls = asked_for(net_log)
    match = re.search(r'<pre id="verdict">(.*?)</pre>', shown, re.DOTALL)
    if match is None:
        print("the page's script did not come to its end")
        return 1
    verdict = json.loads(match[1].replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))
    wrong = verdict["failures"] + [f"{plot}: nothing is drawn" for plot in PLOTS if not verdict["found"].get(plot)]
    wrong += [f"asked the network for {url}" for url in urls]
    if verdict["wide"]:
        wrong.append("the page is wider than its window")
    if verdict["rows"] < 2:
        wrong.append("the overview is empty")
    for line in wrong:
        print(line)
    if not wrong:
        print(f"good: {verdict['found']}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
