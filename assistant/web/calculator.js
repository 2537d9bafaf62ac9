// The calculator's form: what is typed, as text by field name; Enter computes; a link is copied.
// It checks and computes nothing: the server does.
function calculatorForm() {
  return document.getElementById("calculator-form");
}

function calculatorTyped() {
  const form = calculatorForm();
  if (!form) return JSON.stringify({ calculator: "", typed: {} });
  const typed = {};
  const several = {};
  for (const box of form.querySelectorAll("input[name], select[name], textarea[name]")) {
    if (box.hasAttribute("data-several")) {
      several[box.name] = several[box.name] || [];
      if (box.checked) several[box.name].push(box.value);
    } else if (box.type === "checkbox") {
      typed[box.name] = box.checked ? "yes" : "no";
    } else {
      typed[box.name] = box.value;
    }
  }
  for (const name of Object.keys(several)) typed[name] = several[name].join(",");
  return JSON.stringify({ calculator: form.dataset.calculator, typed });
}

function calculatorMark() {
  const form = calculatorForm();
  const faults = document.querySelector("#calculator-faults [data-fields]");
  const link = document.querySelector('#calculator-link [role="status"]');
  if (link) link.hidden = true; // it stands for other inputs
  if (!form) return;
  const wrong = faults ? faults.dataset.fields.split(" ").filter(Boolean) : [];
  for (const box of form.querySelectorAll("[aria-invalid]")) box.removeAttribute("aria-invalid");
  wrong.forEach((name, place) => {
    const box = document.getElementById("calc-" + name);
    if (!box || !form.contains(box)) return;
    box.setAttribute("aria-invalid", "true");
    const folded = box.closest("details");
    if (folded) folded.open = true;
    if (place === 0) box.focus();
  });
}

function calculatorCopy(query) {
  const place = document.getElementById("calculator-link");
  if (!query || !place) return;
  const address = window.location.origin + window.location.pathname + "?" + query;
  const told = place.querySelector("a");
  if (told) {
    told.href = address;
    told.textContent = address;
    place.querySelector('[role="status"]').hidden = false;
  }
  if (navigator.clipboard && window.isSecureContext) {
    navigator.clipboard.writeText(address).catch(() => calculatorCopyByHand(address));
  } else {
    calculatorCopyByHand(address);
  }
}

function calculatorCopyByHand(address) {
  const box = document.createElement("textarea");
  box.value = address;
  document.body.appendChild(box);
  box.select();
  document.execCommand("copy");
  box.remove();
}

document.addEventListener("submit", (event) => {
  if (event.target.id !== "calculator-form") return;
  event.preventDefault();
  document.getElementById("calculator-compute").click();
});

document.addEventListener("keydown", (event) => {
  const form = calculatorForm();
  if (event.key !== "Enter" || event.isComposing || !form || !form.contains(event.target)) return;
  const several = event.target.tagName === "TEXTAREA";
  if (event.target.tagName === "SUMMARY" || (several && !event.ctrlKey && !event.metaKey)) return;
  event.preventDefault();
  document.getElementById("calculator-compute").click();
});
