// A labelled <select>; `changed` gets the chosen index.
export function choice(parent, label, options, chosen, changed) {
  const wrapper = document.createElement("label");
  const select = document.createElement("select");
  options.forEach((text, index) => select.add(new Option(text, String(index))));
  select.value = String(chosen);
  select.addEventListener("change", () => changed(Number(select.value)));
  wrapper.append(label, select);
  parent.append(wrapper);
  return select;
}
