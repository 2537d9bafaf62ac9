// The chat: sources in a drawer, figures in a card, the list of conversations, and what an answer's buttons report.
// All text comes from the server; whatever is shown here was on the page already, folded below the answer.
(() => {
  const OPEN = "gpu-advisor-thread";
  const LIST = "gpu-advisor-list";
  const ARMED_MS = 4000;
  const LEAVE_MS = 250;
  const MOST_MOVING_MS = 15000;
  const byId = (id) => document.getElementById(id);
  const isPhone = () => matchMedia("(max-width: 700px)").matches;

  // --- what Gradio is told -------------------------------------------------------------------------------------

  const send = (id, what) => {
    const box = document.querySelector(`#${id} textarea, #${id} input`);
    if (!box) return;
    box.value = JSON.stringify({ ...what, at: Date.now() });
    box.dispatchEvent(new Event("input", { bubbles: true }));
  };
  const isAnswering = () => Boolean(document.querySelector("#question .stop-button"));
  const openThread = () => document.querySelector("#chat-thread textarea, #chat-thread input")?.value || "";

  // --- a move to another conversation comes before what is asked in it ----------------------------------------------

  // Until the server has moved, a question would go to the conversation that is left: it is held back meanwhile.
  let moves = 0; // under way
  let held = null;
  let patience = 0;
  const settle = () => {
    clearTimeout(patience);
    moves = 0;
    const asking = held;
    held = null;
    if (asking?.isConnected) asking.click();
  };
  const moved = () => {
    moves -= 1;
    if (moves <= 0) settle();
  };
  const move = () => {
    moves += 1;
    clearTimeout(patience);
    patience = setTimeout(settle, MOST_MOVING_MS);
  };
  const hold = (event, asking) => {
    event.preventDefault();
    event.stopPropagation();
    held = asking;
  };
  document.addEventListener("click", (event) => {
    const asking = event.target.closest?.("#question .submit-button, #chat .example");
    if (moves && asking) hold(event, asking);
  }, true);
  document.addEventListener("keydown", (event) => {
    const asks = event.key === "Enter" && !event.shiftKey && !event.isComposing;
    if (moves && asks && event.target.matches?.("#question textarea")) {
      hold(event, document.querySelector("#question .submit-button"));
    }
  }, true);
  move(); // the one that opens the conversation that this browser had open

  // The window's own conversation survives a reload; a new window begins with the one last open.
  window.gpuAdvisorChat = {
    moved,
    kept: () => sessionStorage.getItem(OPEN) ?? localStorage.getItem(OPEN) ?? "",
    keep: (thread) => {
      sessionStorage.setItem(OPEN, thread || "");
      localStorage.setItem(OPEN, thread || "");
      const save = document.querySelector("#chat-bar .export");
      if (save) save.hidden = !thread;
    },
  };

  // --- short words -----------------------------------------------------------------------------------------------

  let saying = 0;
  const say = (words) => {
    const said = byId("chat-said");
    said.textContent = words;
    said.hidden = false;
    clearTimeout(saying);
    saying = setTimeout(() => { said.hidden = true; }, 1800);
  };

  const copyByHand = (text) => {
    const area = document.createElement("textarea");
    area.value = text;
    area.style.position = "fixed";
    area.style.opacity = "0";
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    if (!done) throw new Error("copy refused");
  };

  const copyAnswer = async (turn) => {
    const words = byId("chat-overlay").dataset;
    try {
      const response = await fetch(`../api/turns/${turn}/answer.md`);
      if (!response.ok) throw new Error(String(response.status));
      const text = await response.text();
      if (navigator.clipboard) await navigator.clipboard.writeText(text);
      else copyByHand(text);
      say(words.copied);
    } catch {
      say(words.notCopied);
    }
  };

  const exportConversation = () => {
    const link = document.createElement("a");
    const language = byId("chat-overlay").dataset.language;
    link.href = `../api/conversations/${encodeURIComponent(openThread())}/export.md?language=${language}`;
    link.download = "";
    link.click();
  };

  // --- the drawer with a source ----------------------------------------------------------------------------------

  let opener = null;

  const openSource = (id, number, from) => {
    const passage = byId(id);
    const drawer = byId("source-drawer");
    if (!passage || !drawer) return false;
    opener = from;
    drawer.querySelector(".what").innerHTML = passage.closest("details").querySelector("summary").innerHTML;
    const body = drawer.querySelector(".body");
    body.innerHTML = passage.innerHTML;
    drawer.hidden = false;
    const places = body.querySelectorAll(number === null ? "mark, .used" : `.u${number}`);
    if (number !== null) places.forEach((place) => place.classList.add("here"));
    body.scrollTop = 0;
    if (places.length) places[0].scrollIntoView({ block: "center", inline: "nearest" });
    drawer.focus({ preventScroll: true });
    return true;
  };

  const closeSource = () => {
    const drawer = byId("source-drawer");
    if (!drawer || drawer.hidden) return false;
    drawer.hidden = true;
    if (opener?.isConnected) opener.focus({ preventScroll: true });
    opener = null;
    return true;
  };

  // --- the card of a figure --------------------------------------------------------------------------------------

  let shownFor = null;
  let leaving = 0;
  const numberOf = (element) => /(?:^| )u(\d+)(?: |$)/.exec(element.className)?.[1] ?? null;

  const hideCard = () => {
    clearTimeout(leaving);
    const card = byId("figure-card");
    if (!card || card.hidden) return false;
    card.hidden = true;
    shownFor?.removeAttribute("aria-describedby");
    shownFor = null;
    return true;
  };

  const placeCard = (card, figure) => {
    const gap = 6;
    const edge = 8;
    const around = figure.getClientRects()[0] || figure.getBoundingClientRect();
    const below = around.bottom + gap + card.offsetHeight <= innerHeight - edge;
    const top = below ? around.bottom + gap : around.top - gap - card.offsetHeight;
    const left = Math.min(around.left, innerWidth - card.offsetWidth - edge);
    card.style.top = `${Math.max(edge, top)}px`;
    card.style.left = `${Math.max(edge, left)}px`;
  };

  const showCard = (figure) => {
    clearTimeout(leaving);
    if (shownFor === figure) return;
    const number = numberOf(figure);
    const row = figure.closest(".message")?.querySelector(`table.figures tr.u${number}`);
    const card = byId("figure-card");
    if (!row || !card) return;
    hideCard();
    card.innerHTML = `<b>${row.cells[0].innerHTML}</b><div>${row.cells[1].innerHTML}</div>`;
    card.dataset.number = number;
    card.hidden = false;
    placeCard(card, figure);
    figure.setAttribute("aria-describedby", "figure-card");
    shownFor = figure;
  };

  const leaveCard = () => {
    clearTimeout(leaving);
    leaving = setTimeout(hideCard, LEAVE_MS);
  };

  const sourceOfFigure = (figure) => {
    const row = figure.closest(".message")?.querySelector(`table.figures tr.u${numberOf(figure)}`);
    const link = row?.querySelector("a.cite");
    return link ? link.getAttribute("href").slice(1) : null;
  };

  document.addEventListener("pointerover", (event) => {
    if (event.pointerType !== "mouse") return;
    const figure = event.target.closest?.("#chat .figure");
    if (figure) showCard(figure);
    else if (event.target.closest?.("#figure-card")) clearTimeout(leaving);
    else if (shownFor && document.activeElement !== shownFor) leaveCard();
  });
  document.addEventListener("focusin", (event) => {
    const figure = event.target.closest?.("#chat .figure");
    if (figure) showCard(figure);
    else if (!event.target.closest?.("#figure-card")) hideCard();
  });
  document.addEventListener("scroll", (event) => {
    if (!event.target.closest?.("#figure-card, #source-drawer")) hideCard();
  }, true);

  // --- the list of conversations -----------------------------------------------------------------------------------

  // On a desk the list is there unless it was put away; on a phone it lies over the chat while it is wanted.
  const page = document.documentElement;
  const showList = (shown) => {
    byId("chat-row").classList.toggle("list-over", isPhone() && shown);
    if (!isPhone()) {
      page.dataset.chatList = shown ? "" : "away";
      localStorage.setItem(LIST, page.dataset.chatList);
    }
    document.querySelector("#chat-bar .show")?.setAttribute("aria-expanded", String(shown));
  };
  const isListShown = () => {
    const list = byId("chat-side");
    return Boolean(list) && getComputedStyle(list).display !== "none";
  };
  if (!isPhone()) page.dataset.chatList = localStorage.getItem(LIST) || "";

  const arm = (button) => {
    button.classList.add("armed");
    button.textContent = button.dataset.sure;
    setTimeout(() => {
      button.classList.remove("armed");
      button.textContent = "";
    }, ARMED_MS);
  };

  const rename = (item) => {
    const title = item.querySelector(".title");
    const field = document.createElement("input");
    field.value = title.textContent;
    field.maxLength = 60;
    field.setAttribute("aria-label", item.querySelector(".rename").getAttribute("aria-label"));
    title.replaceWith(field);
    field.focus();
    field.select();
    let ended = false;
    const end = (kept) => {
      if (ended) return;
      ended = true;
      if (kept && field.value.trim() !== title.textContent) {
        title.textContent = field.value.trim() || title.textContent;
        send("chat-action", { do: "rename", thread: item.dataset.thread, title: field.value });
      }
      field.replaceWith(title);
    };
    field.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && !event.isComposing) end(true);
      if (event.key === "Escape") { event.stopPropagation(); end(false); }
    });
    field.addEventListener("blur", () => end(true));
  };

  const goTo = (button) => {
    const item = button.closest("[data-thread]");
    const what = button.dataset.go;
    if (what === "rename") rename(item);
    else if (what === "delete" && !button.classList.contains("armed")) arm(button);
    else {
      move();
      send("chat-go", { do: what, thread: item?.dataset.thread || "" });
      if (what !== "delete" && isPhone()) showList(false);
      if (what === "new") document.querySelector("#question textarea")?.focus();
    }
  };

  // --- clicks and keys ---------------------------------------------------------------------------------------------

  const focusSoon = (selector, tries = 20) => {
    const found = document.querySelector(selector);
    if (found && found.offsetParent) found.focus();
    else if (tries) setTimeout(() => focusSoon(selector, tries - 1), 100);
  };

  const act = (button) => {
    const turn = Number(button.value);
    const what = button.name;
    if (what === "copy") copyAnswer(turn);
    else if (what === "assumptions") send("assumptions-turn", { turn });
    else if (what === "retry") { if (!isAnswering()) send("chat-again", { turn }); }
    else {
      send("chat-action", { do: what, turn });
      if (what === "edit") focusSoon("#question textarea");
      if (what === "down" && !button.classList.contains("chosen")) focusSoon("#chat-feedback input");
    }
  };

  const onCite = (link) => {
    const card = link.closest("#figure-card");
    const from = card ? shownFor : link;
    const number = card ? card.dataset.number : null;
    hideCard();
    return openSource(link.getAttribute("href").slice(1), number, from);
  };

  document.addEventListener("click", (event) => {
    const on = (selector) => event.target.closest(selector);
    const cite = on("#chat a.cite, #figure-card a.cite");
    const figure = on("#chat .figure");
    const go = on("[data-go]");
    const chat = on("[data-chat]");
    if (cite) { if (onCite(cite)) event.preventDefault(); }
    else if (figure) showCard(figure);
    else if (on("#source-drawer .close")) closeSource();
    else if (on("#chat button.act")) act(on("#chat button.act"));
    else if (go) goTo(go);
    else if (on("[data-list]")) showList(!isListShown());
    else if (chat?.dataset.chat === "export") exportConversation();
    else if (chat) send("chat-action", { do: chat.dataset.chat });
    if (!figure && !on("#figure-card")) hideCard();
    if (isPhone() && isListShown() && !on("#chat-side, [data-list]")) showList(false);
  });

  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      if (!hideCard() && !closeSource() && isPhone() && isListShown()) showList(false);
    } else if ((event.key === "Enter" || event.key === " ") && event.target.matches?.("#chat .figure")) {
      event.preventDefault();
      const figure = event.target;
      const source = sourceOfFigure(figure);
      const number = numberOf(figure);
      hideCard();
      if (!source || !openSource(source, number, figure)) showCard(figure);
    }
  });

  // Gradio labels each message with its whole HTML, which a screen reader would read out before the message itself.
  const unlabel = (chat) => {
    const clean = () => chat.querySelectorAll("[data-testid][aria-label]").forEach((each) => each.removeAttribute("aria-label"));
    new MutationObserver(clean).observe(chat, { childList: true, subtree: true, attributeFilter: ["aria-label"] });
    clean();
  };

  // Gradio builds the page after this script has run.
  const begin = () => {
    if (byId("chat")) unlabel(byId("chat"));
    else setTimeout(begin, 100);
  };
  begin();
})();
