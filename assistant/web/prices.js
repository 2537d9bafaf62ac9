// The link to the price list as it is filtered, put on the clipboard (or selected, where the page may not write there).
(() => {
  const copy = async (text) => {
    if (navigator.clipboard && window.isSecureContext) return navigator.clipboard.writeText(text);
    const box = document.createElement("textarea");
    box.value = text;
    document.body.appendChild(box);
    box.select();
    document.execCommand("copy");
    box.remove();
  };

  document.addEventListener("click", async (event) => {
    const button = event.target.closest("#prices [data-copy-link]");
    if (!button) return;
    const words = button.textContent;
    try {
      await copy(new URL(button.dataset.copyLink, location.href).href);
      button.textContent = button.dataset.done;
    } catch {
      window.prompt("", new URL(button.dataset.copyLink, location.href).href);
    }
    setTimeout(() => { button.textContent = words; }, 1500);
  });
})();
