// The controls of the page that answers while one drags: a slider for numbers, a list for names.

function named(tag, className, text = "") {
  const element = document.createElement(tag);
  element.className = className;
  element.textContent = text;
  return element;
}

function sliderOf(control) {
  const input = document.createElement("input");
  input.type = "range";
  input.min = 0;
  input.max = control.values.length - 1;
  input.step = 1;
  return input;
}

function listOf(control) {
  const select = document.createElement("select");
  control.values.forEach((value, at) => select.append(new Option(value, at)));
  return select;
}

// One control; `moved` is called on every step of a drag. `setLimits` marks the values that cannot
// be, with the reasons.
function drawControl(control, moved) {
  const row = named("div", "control");
  const input = control.names ? listOf(control) : sliderOf(control);
  input.id = `control-${control.key}`;
  const label = named("label", "term", control.title);
  label.htmlFor = input.id;
  label.tabIndex = 0; // its meaning by keyboard, too
  label.title = `${control.key}: ${control.help}`;
  const shown = named("output", "control-value");
  shown.htmlFor = input.id;
  const marks = named("div", "control-marks");
  const head = named("div", "control-head");
  head.append(label, shown);
  row.append(head, input, marks);

  let reasons = [];
  const show = () => {
    const at = Number(input.value);
    const value = control.values[at];
    shown.textContent = control.names ? "" : value;
    const spoken = reasons[at] ? `${value}, cannot be: ${reasons[at]}` : value;
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
        input.options[at].textContent = reasons[at] ? `${value} (cannot be)` : value;
        input.options[at].title = reasons[at] ?? "";
      });
    } else {
      marks.replaceChildren(
        ...control.values.map((value, at) => {
          const mark = named("span", reasons[at] ? "mark refused" : "mark");
          mark.title = reasons[at] ? `${value}: ${reasons[at]}` : value;
          return mark;
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
  const element = named("form", "live-controls");
  element.setAttribute("aria-label", "what can be moved");
  element.addEventListener("submit", (event) => event.preventDefault());
  const drawn = controls.map((control) => drawControl(control, moved));
  let group = null;
  for (const each of drawn) {
    if (group?.dataset.title !== each.control.group) {
      group = document.createElement("fieldset");
      group.dataset.title = each.control.group;
      group.append(named("legend", "", each.control.group));
      element.append(group);
    }
    group.append(each.row);
  }
  return {
    element,
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
