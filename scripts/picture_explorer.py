"""Photograph the pages of docs/explorer.md and docs/monitoring.md, and the report, in Chromium.

``python scripts/picture_explorer.py`` rewrites docs/images/explorer-*.png, monitor.png and
report.png.
"""

from __future__ import annotations

import base64
import io
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from draw_doc_images import IMAGES, ROOT, run_page
from PIL import Image
from selenium import webdriver

SETTLED = 1.5
"""Seconds after which the map is drawn."""

COLOURS = 256

PHONE = (360, 800)
PHONE_SCROLLS = (0, 640, 1830)
GAP = 16

UNFOLD = """
const names = ["decision", "costs", "map"];
for (const name of names) document.getElementById(`fold-${name}`).open = true;
"""

REPORT = """
report valid.csv --label died --test test.csv --min-precision 0.3 --capacity 0.1 --miss-costs 9:40
--confidence 0.9 --title
"""
"""The command of docs/walk-through.md, without its title."""

GAINS = "return document.getElementById('decision-title').getBoundingClientRect().top - 30"
"""Where net benefit, costs and the map are, from the top of the page."""


def open_browser(profile: str) -> webdriver.Chrome:
    """Start a headless Chromium that asks the network for nothing."""
    options = webdriver.ChromeOptions()
    options.binary_location = str(shutil.which("chromium"))
    flags = ("headless=new", "no-sandbox", "disable-gpu", "hide-scrollbars", "no-first-run")
    for flag in (*flags, f"user-data-dir={profile}", "disable-background-networking"):
        options.add_argument(f"--{flag}")
    driver = webdriver.ChromeService(str(shutil.which("chromedriver")))
    return webdriver.Chrome(options=options, service=driver)


def photograph(browser: webdriver.Chrome, width: int, height: int, scroll: int = 0) -> Image.Image:
    """Return the page as seen on a screen of the given size."""
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.execute_script(f"window.scrollTo(0, {scroll})")
    time.sleep(SETTLED)
    data = browser.execute_cdp_cmd("Page.captureScreenshot", {})["data"]
    return Image.open(io.BytesIO(base64.b64decode(data))).convert("RGB")


def wait_for(browser: webdriver.Chrome, sign: str) -> None:
    """Wait until the page says that something is computed: intervals, or the map's hatching."""
    while browser.execute_script(f"return document.body.dataset.{sign} ?? null") is None:
        time.sleep(SETTLED)


def side_by_side(pictures: list[Image.Image]) -> Image.Image:
    """Put pictures of the same size in a row."""
    width, height = pictures[0].size
    row = Image.new("RGB", ((width + GAP) * len(pictures) - GAP, height), "white")
    for position, picture in enumerate(pictures):
        row.paste(picture, (position * (width + GAP), 0))
    return row


def keep(picture: Image.Image, name: str) -> None:
    """Save a picture with as many colours as it needs, which is a third of the bytes."""
    path = IMAGES / name
    picture.quantize(COLOURS, kmeans=3, dither=Image.Dither.NONE).save(path, optimize=True)
    print(path, path.stat().st_size)


def main() -> None:
    """Make the pages as the guide does, and photograph them on a desk and on a phone."""
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as profile:
        os.chdir(folder)
        run_page(ROOT / "docs" / "explorer.md")
        browser = open_browser(profile)
        browser.get((Path(folder) / "support2.html").as_uri())
        photograph(browser, *PHONE)
        browser.refresh()  # opened on a phone, the limits are folded
        wait_for(browser, "sure")
        phone = [photograph(browser, *PHONE, scroll) for scroll in PHONE_SCROLLS]
        keep(side_by_side(phone), "explorer-360.png")
        photograph(browser, 1280, 1260)
        browser.refresh()
        wait_for(browser, "sure")
        keep(photograph(browser, 1280, 1260), "explorer-1280.png")
        browser.execute_script(UNFOLD)
        wait_for(browser, "judged")
        keep(photograph(browser, 1280, 1160, browser.execute_script(GAINS)), "explorer-gains.png")
        run_page(ROOT / "docs" / "monitoring.md")
        browser.get((Path(folder) / "ward.html").as_uri())
        keep(photograph(browser, 900, 2340), "monitor.png")
        run_page(ROOT / "docs" / "walk-through.md")
        command = [*REPORT.split(), "Alarm for death within 7 days", "-o", "report.html"]
        subprocess.run([sys.executable, "-m", "voros", *command], check=True)
        browser.get((Path(folder) / "report.html").as_uri())
        keep(photograph(browser, 1000, 1700), "report.png")
        browser.quit()
        os.chdir(ROOT)


if __name__ == "__main__":
    main()
