"""A headless Chromium and what one does with it on the page.

Where there is no Chromium the browser tests are skipped, but never in CI: there it is a fault.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
from selenium import webdriver
from selenium.common.exceptions import StaleElementReferenceException, WebDriverException
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement

FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
)  # fmt: skip
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
PHONE = (390, 844)
DESK = (1280, 900)
LEFT = ("AbortError", "Connection errored out")
OWN_SCHEMES = {"chrome", "chrome-untrusted", "chrome-extension", "data", "blob", "about"}


def needs_chromium() -> None:
    """Skip the test where no Chromium is installed; in CI fail it."""
    if CHROMIUM and DRIVER:
        return
    if os.environ.get("CI"):
        pytest.fail("no chromium or chromedriver is installed; on Debian: apt-get install chromium chromium-driver")
    pytest.skip("no chromium or chromedriver is installed")


class Browser:
    """One browser window with a fresh profile."""

    def __init__(self, driver: webdriver.Chrome, url: str) -> None:
        self.driver = driver
        self.url = url

    def open(self, path: str = "/") -> float:
        """Go to `path`; returns the seconds until the page can be used: what is typed and clicked is answered."""
        started = time.monotonic()
        self.driver.get(self.url + path)
        self.ready()
        return time.monotonic() - started

    def ready(self) -> None:
        """Wait until Gradio has wired the page's events."""
        self.until(lambda: self.driver.find_elements(By.CSS_SELECTOR, "body[data-ready]"), "the page to be ready")

    def all(self, selector: str) -> list[WebElement]:
        """The elements that are shown; looked for again where the page was redrawn between finding and looking."""
        for _ in range(50):
            with contextlib.suppress(StaleElementReferenceException):
                return [each for each in self.driver.find_elements(By.CSS_SELECTOR, selector) if each.is_displayed()]
        raise AssertionError(f"the page redraws {selector} without end")

    def one(self, selector: str) -> WebElement | None:
        """The first shown element."""
        return next(iter(self.all(selector)), None)

    def until(self, check: Callable[[], Any], what: str, seconds: float = 30) -> Any:
        """What `check` gives once that is true."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            with contextlib.suppress(WebDriverException):
                if found := check():
                    return found
            time.sleep(0.05)
        folder = os.environ.get("BROWSER_SHOTS")
        if folder:
            self.driver.save_screenshot(f"{folder}/failed-{time.time():.0f}.png")
        raise AssertionError(f"waited {seconds} s in vain for {what}; the page says: {self.text()[-1500:]!r}")

    def find(self, selector: str, seconds: float = 30) -> WebElement:
        """The first shown element, once there is one."""
        found: WebElement = self.until(lambda: self.one(selector), selector, seconds)
        return found

    def click(self, selector: str) -> None:
        """Click the first shown element of that kind, in the middle of the window."""
        element = self.find(selector)
        self.driver.execute_script("arguments[0].scrollIntoView({block: 'center', inline: 'nearest'})", element)
        self.until(lambda: (element.click(), True)[1], f"a click on {selector}", 10)

    def tab(self, name: str) -> None:
        """Open a tab by its id; where the bar has no room for it, it stands in the overflow menu."""
        wanted = f'#tabs [role=tab][data-tab-id="{name}"]'
        self.find("#tabs [role=tab]")
        if not self.one(wanted):
            self.click("#tabs .overflow-menu > button")
            self.click("#tabs .overflow-dropdown button:last-child")
            return
        self.click(wanted)

    def ask(self, question: str) -> str:
        """Ask and wait for the end; returns the text of the last answer."""
        before = len(self.answers())
        box = self.find("#question textarea")
        box.send_keys(question)
        box.send_keys(Keys.ENTER)
        self.until(lambda: len(self.answers()) > before and self.answers()[-1].text.strip(), "an answer")
        self.settled()
        return str(self.until(lambda: self.answers()[-1].text, "the text of the answer"))

    def settled(self) -> None:
        """Wait until no answer is being written any more."""
        self.until(
            lambda: not self.all("#question .stop-button, #chat .generating, #chat .working"), "the end of it", 60
        )

    def answers(self) -> list[WebElement]:
        """The shown answers."""
        return self.all("#chat .message.bot")

    def text(self) -> str:
        """All text that is shown."""
        return str(self.driver.execute_script("return document.body.innerText"))

    def sideways(self) -> int:
        """By how many pixels the page is wider than the window."""
        return int(self.driver.execute_script("return document.documentElement.scrollWidth - window.innerWidth"))

    def resize(self, size: tuple[int, int]) -> None:
        """Make the window that of a phone or a desk."""
        width, height = size
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)

    def complaints(self) -> list[str]:
        """The errors in the console since the last call.

        Not those that Gradio logs of its own requests when a page is left; its plots and grid only warn.
        """
        entries = self.driver.get_log("browser")  # type: ignore[no-untyped-call]
        return [
            entry["message"]
            for entry in entries
            if entry["level"] == "SEVERE" and not any(word in entry["message"] for word in LEFT)
        ]

    def foreign_requests(self) -> list[str]:
        """Every address asked for, since the last call, that is not this server's."""
        messages = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]  # type: ignore[no-untyped-call]
        asked = [each["params"]["request"]["url"] for each in messages if each["method"] == "Network.requestWillBeSent"]
        own = urlsplit(self.url).netloc
        return [url for url in asked if urlsplit(url).scheme not in OWN_SCHEMES and urlsplit(url).netloc != own]


@contextlib.contextmanager
def browsing(
    url: str, language: str = "zh-CN", size: tuple[int, int] = DESK, *, dark: bool = False
) -> Iterator[Browser]:
    """A browser that prefers `language`, in a window of `size` pixels."""
    needs_chromium()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        options = webdriver.ChromeOptions()
        options.binary_location = CHROMIUM or ""
        for flag in (*FLAGS, f"--lang={language}", f"--user-data-dir={profile}", f"--window-size={size[0]},{size[1]}"):
            options.add_argument(flag)
        options.add_experimental_option("prefs", {"intl.accept_languages": language})
        options.set_capability("goog:loggingPrefs", {"performance": "ALL", "browser": "ALL"})
        driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
        try:
            if dark:
                features = [{"name": "prefers-color-scheme", "value": "dark"}]
                driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
            browser = Browser(driver, url)
            browser.resize(size)
            yield browser
        finally:
            driver.quit()
