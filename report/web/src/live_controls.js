// The controls of the live page: a slider for numbers, a list for names.

import { division, element } from "./dom.js";

const sliderOf = ({ values }) => element("input", { type: "range", min: 0, max: values.length - 1, step: 1 });

const listOf = ({ values }) => element("select", {}, ...values.map((value, at) => new Option(value, at)));

// One control; `moved` is called on every step of a drag. `setLimits` marks the values that cannot
// be, with the reasons.
function drawControl(control, moved) {
  const input = control.names ? listOf(control) : sliderOf(control);
  input.id = `control-${control.key}`;
  const title = `${control.key}: ${control.help}`;
  const reached = { htmlFor: input.id, tabIndex: 0 }; // its meaning by keyboard, too
  const label = element("label", { className: "term", title, ...reached }, control.title);
  const shown = element("output", { className: "control-value", htmlFor: input.id });
  const marks = division("control-marks");
  const row = division("control", division("control-head", label, shown), input, marks);

  let reasons = [];
  const show = () => {
    const at = Number(input.value);
    const value = control.values[at];
    shown.textContent = control.names ? "" : value;
    const spoken = reasons[at] ? `${value}, not possible: ${reasons[at]}` : value;
    input.setAttribute("aria-valuetext", spoken);
    row.classList.toggle("moved", at !== control.at);
    row.classList.toggle("refused", Boolean(reasons[at]));
  };
  input.addEventListener("input", () => {
    show();
    moved();
  });
  const setLimits = (found) => {
    reasons = found ?? [];
    if (control.names) {
      control.values.forEach((value, at) => {
        input.options[at].textContent = reasons[at] ? `${value} (not possible)` : value;
        input.options[at].title = reasons[at] ?? "";
      });
    } else {
      marks.replaceChildren(
        ...control.values.map((value, at) => {
          const className = reasons[at] ? "mark refused" : "mark";
          return element("span", { className, title: reasons[at] ? `${value}: ${reasons[at]}` : value });
        }),
      );
    }
    show();
  };
  const set = (at) => {
    input.value = at;
    show();
  };
  set(control.at);
  setLimits([]);
  return { row, control, set, setLimits, at: () => Number(input.value) };
}

// All controls by group. `settings` are those that were moved from the scenario's own values.
export function drawControls(controls, moved) {
  const form = element("form", { className: "live-controls", "aria-label": "what can be moved" });
  form.addEventListener("submit", (event) => event.preventDefault());
  const drawn = controls.map((control) => drawControl(control, moved));
  let group = null;
  for (const each of drawn) {
    if (group?.dataset.title !== each.control.group) {
      group = element("fieldset", {}, element("legend", {}, each.control.group));
      group.dataset.title = each.control.group;
      form.append(group);
    }
    group.append(each.row);
  }
  return {
    element: form,
    settings() {
      const changed = drawn.filter((each) => each.at() !== each.control.at);
      return Object.fromEntries(
        changed.map((each) => [each.control.key, each.control.values[each.at()]]),
      );
    },
    // Values that a control does not have are left as they are.
    set(settings) {
      for (const each of drawn) {
        const at = each.control.values.indexOf(settings[each.control.key]);
        each.set(at < 0 ? each.control.at : at);
      }
    },
    setLimits(limits) {
      for (const each of drawn) each.setLimits(limits[each.control.key]);
    },
  };
}
