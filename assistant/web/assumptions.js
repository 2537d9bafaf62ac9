// The panel of assumptions: what stands in its boxes is reported; Escape and × close it.
// It checks and computes nothing: the server does.
(() => {
  const panel = () => document.querySelector("#assumptions section");
  const REDRAWN_MS = 250; // without a change in the chat: then the new card stands
  const WAITED_MS = 6000;
  let opener = null;

  // The chat is drawn anew after an answer was revised, and scrolled to its end: bring the head of the new card back.
  const showCard = (turn) => {
    const chat = document.getElementById("chat");
    if (!chat) return;
    let quiet = 0;
    const show = () => {
      const button = chat.querySelector(`button.assumptions[value="${CSS.escape(turn)}"]`);
      const card = button && button.closest(".message");
      if (card) card.scrollIntoView({ block: "start" });
    };
    const seen = new MutationObserver(() => {
      clearTimeout(quiet);
      quiet = setTimeout(show, REDRAWN_MS);
    });
    seen.observe(chat, { childList: true, subtree: true, characterData: true });
    setTimeout(() => seen.disconnect(), WAITED_MS);
  };

  const send = (what) => {
    const box = document.querySelector("#assumptions-go textarea, #assumptions-go input");
    if (!box) return;
    box.value = JSON.stringify({ ...what, at: Date.now() });
    box.dispatchEvent(new Event("input", { bubbles: true }));
  };

  const report = (form, what) => {
    const typed = {};
    for (const box of form.querySelectorAll("input[name], select[name]")) typed[box.name] = box.value;
    form.setAttribute("aria-busy", "true");
    for (const button of form.querySelectorAll("footer button")) button.disabled = true;
    send({ do: what, turn: Number(form.dataset.turn), typed });
  };

  const close = () => {
    const turn = document.querySelector("#assumptions-turn textarea, #assumptions-turn input");
    if (turn) {
      turn.value = "";
      turn.dispatchEvent(new Event("input", { bubbles: true }));
    }
    if (opener && opener.isConnected) opener.focus();
  };

  document.addEventListener("submit", (event) => {
    const form = event.target.closest("#assumptions form");
    if (!form) return;
    event.preventDefault();
    report(form, "recompute");
  });

  document.addEventListener("click", (event) => {
    const button = event.target.closest("#assumptions [data-do]");
    if (!button) {
      const act = event.target.closest("button.assumptions");
      if (act) opener = act;
      return;
    }
    if (button.dataset.do === "close") close();
    else report(button.closest("form"), button.dataset.do);
  });

  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && panel()) close();
  });

  // Gradio mends the old panel into the new one where it can, with what was typed still in its boxes: begin afresh.
  // A panel that opens takes the focus; one that comes back shows its head, where what is wrong stands.
  let at = "";
  let turn = "";
  new MutationObserver(() => {
    const form = document.querySelector("#assumptions form");
    const now = form ? form.dataset.at : "";
    if (now === at) return;
    const again = form && form.dataset.turn === turn;
    at = now;
    turn = form ? form.dataset.turn : "";
    if (!form) return;
    form.reset();
    form.removeAttribute("aria-busy");
    for (const button of form.querySelectorAll("footer button")) button.disabled = button.hasAttribute("data-off");
    form.querySelector(".body").scrollTop = 0;
    const target = form.querySelector(again ? ".go" : "h2");
    if (target) target.focus({ preventScroll: true });
    if (again && !form.querySelector(".fault")) showCard(turn);
  }).observe(document.documentElement, {
    childList: true, subtree: true, attributes: true, attributeFilter: ["data-at"],
  });
})();
