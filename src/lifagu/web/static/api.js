// The way to the server: requests, jobs with progress that can be cancelled, and errors as the server words them.

import { byId } from "./dom.js";

const running = new Set(); // the jobs that the cancel button is about

export class Refused extends Error {}

async function told(response) {
  if (response.ok) return response;
  let message = `the server answered with ${response.status}`;
  try {
    message = (await response.json()).error ?? message;
  } catch {
    // no JSON: the status says enough
  }
  throw new Refused(message);
}

async function send(address, options) {
  try {
    return await fetch(address, { credentials: "same-origin", cache: "no-store", ...options });
  } catch {
    throw new Refused("the server does not answer; is lifagu serve still running?");
  }
}

async function finished(response) {
  let job = null;
  try {
    while (response.status === 202) {
      const news = await response.json();
      job = news.job;
      running.add(job);
      showProgress(news.progress);
      response = await send(`/api/jobs/${job}`);
    }
    return await told(response);
  } finally {
    running.delete(job);
    byId("busy").hidden = running.size === 0;
  }
}

function showProgress({ stage, done }) {
  byId("busy").hidden = false;
  if (byId("busy-text").textContent !== stage) byId("busy-text").textContent = stage;
  if (done === undefined) byId("busy-bar").removeAttribute("value");
  else byId("busy-bar").value = done;
}

export async function start() {
  return (await told(await send("/api/start"))).json();
}

let openings = 0;
let reading = null; // the model that is being read

// Opens a model; resolves to null when another one was opened meanwhile, for which this one gives way.
export async function open(query, body) {
  const turn = ++openings;
  const isLast = () => turn === openings;
  if (reading) close(reading);
  reading = null;
  let id = null;
  try {
    const response = await send(`/api/models?${new URLSearchParams(query)}`, { method: "POST", body });
    id = response.headers.get("x-lifagu-model");
    if (!isLast() && id) close(id);
    if (!isLast()) return null;
    reading = id;
    const model = await (await finished(response)).json();
    return isLast() ? { ...model, id } : null;
  } catch (error) {
    if (!isLast()) return null;
    if (id) close(id); // what cannot be read need not be kept
    throw error;
  } finally {
    if (isLast()) reading = null;
  }
}

function post(model, operation, request) {
  return send(`/api/models/${model}/${operation}`, {
    method: "POST",
    body: JSON.stringify(request),
    headers: { "content-type": "application/json" },
  });
}

export async function ask(model, operation, request) {
  return (await finished(await post(model, operation, request))).json();
}

export async function download(model, operation, request) {
  const response = await finished(await post(model, operation, request));
  const name = /filename="([^"]+)"/.exec(response.headers.get("content-disposition") ?? "")?.[1] ?? "lifagu";
  return { name, content: await response.blob() };
}

export function close(model) {
  return send(`/api/models/${model}`, { method: "DELETE" });
}

export function cancel() {
  for (const job of running) send(`/api/jobs/${job}`, { method: "DELETE" });
}
