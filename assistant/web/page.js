// The frame: dark or light as chosen, the other language at the same place, the tab in the address.
(() => {
  const THEME = "gpu-advisor-theme";
  const dark = () => document.body.classList.contains("dark");

  const applyTheme = () => {
    const chosen = localStorage.getItem(THEME);
    if (chosen) document.body.classList.toggle("dark", chosen === "dark");
  };

  document.addEventListener("click", (event) => {
    if (event.target.closest("#theme")) {
      localStorage.setItem(THEME, dark() ? "light" : "dark");
      applyTheme();
    }
    const link = event.target.closest("#other-language");
    if (link) {
      const next = `/${link.lang}/${location.search}`;
      link.href = `/language/${link.lang}?next=${encodeURIComponent(next)}`;
    }
  });

  // The address names the open tab, whoever opened it: a reload and a link come back to it.
  const TABS = ["chat", "prices", "calculator", "knowledge"];
  let used = false; // before somebody does something, it is the address that chooses the tab
  for (const kind of ["pointerdown", "keydown"]) document.addEventListener(kind, () => { used = true; });
  const noteTab = () => {
    if (!used) return;
    const open = document.querySelector("#tabs [role=tab][aria-selected=true]")?.getAttribute("data-tab-id");
    const address = new URL(location.href);
    const named = address.searchParams.get("tab") || "chat";
    if (!TABS.includes(open) || open === named) return;
    address.search = `?tab=${open}`; // what stood there was said to another tab
    history.replaceState(history.state, "", address);
  };

  // Gradio runs this script before or after the document is complete, as it happens to load, and sets the class of the
  // body itself while it starts.
  const begin = () => {
    applyTheme();
    new MutationObserver(noteTab).observe(document.body, { subtree: true, attributeFilter: ["aria-selected"] });
    new MutationObserver(() => {
      const chosen = localStorage.getItem(THEME);
      if (chosen && dark() !== (chosen === "dark")) applyTheme();
    }).observe(document.body, { attributes: true, attributeFilter: ["class"] });
  };
  if (document.body) begin();
  else document.addEventListener("DOMContentLoaded", begin);
})();
