// Shows the model of the page as text; the views replace this.
function main(): void {
  document.documentElement.className = "js";
  const app = document.getElementById("app");
  const model = document.getElementById("model");
  if (app === null || model === null || model.textContent === null) return;
  const data = JSON.parse(model.textContent) as { sets: { name: string; items: number }[] };
  for (const set of data.sets) {
    const line = document.createElement("p");
    line.textContent = `${set.name}: ${set.items}`;
    app.append(line);
  }
}

if (typeof document !== "undefined") main();
