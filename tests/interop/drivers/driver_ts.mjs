// Plays runs through the TypeScript SDK, one after another, and writes what its caller sees. Runs are written for the
// Python SDK; names of options, steps and hook outputs are translated here. Started with the path of the SDK, which costs
// more to load than most runs take; a run finds the folder and the environment that a process of its own would have.
import fs from 'node:fs';
import path from 'node:path';
import readline from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';

const PATIENCE = 30_000;
const sdk = process.argv[2];
const { query, tool, createSdkMcpServer } = await import(sdk);
const { z } = await import(path.join(path.dirname(sdk), '../../zod/index.js'));
let spec;
let job;

const put = (kind, row) => fs.appendFileSync(spec.events, JSON.stringify({ kind, [kind]: row ?? null }) + '\n');
const camel = (name) => name.replace(/_([a-z])/g, (_, letter) => letter.toUpperCase());
const fault = (error) => ({ mro: [error?.constructor?.name ?? typeof error], text: String(error).slice(0, 2000) });
const answersOf = (list) => { let used = 0; return () => list[Math.min(used++, list.length - 1)]; };

// Options whose inner names differ too; every other option only changes from snake_case to camelCase.
const RENAMED = { add_dirs: 'additionalDirectories', continue_conversation: 'continue' };
const TRANSLATED = {
  thinking: (value) => Object.fromEntries(Object.entries(value).map(([name, part]) => [camel(name), part])),
  env: (value) => ({ ...process.env, ...value }),
};

function buildOptions() {
  const options = { cwd: spec.project, pathToClaudeCodeExecutable: spec.agent };
  for (const [name, value] of Object.entries(spec.options ?? {})) {
    options[RENAMED[name] ?? camel(name)] = TRANSLATED[name]?.(value) ?? value;
  }
  if (spec.can_use_tool) options.canUseTool = permissionCallback(answersOf(spec.can_use_tool));
  if (spec.hooks) options.hooks = Object.fromEntries(Object.entries(spec.hooks).map(([event, rows]) => [event, rows.map((row) => hookMatcher(event, row))]));
  for (const [name, tools] of Object.entries(spec.mcp ?? {})) (options.mcpServers ??= {})[name] = mcpServer(name, tools);
  return options;
}

function permissionCallback(next) {
  return async (name, input, { signal, ...context }) => {
    const answer = next();
    put('permission', { tool: name, input, context });
    if (answer.delay) await pause(answer.delay * 1000);
    if (answer.raise !== undefined) throw new Error(answer.raise);
    if (answer.deny !== undefined) return { behavior: 'deny', message: answer.deny, interrupt: answer.interrupt };
    const updates = answer.updated_permissions === 'suggested' ? context.suggestions : answer.updated_permissions?.map(permissionUpdate);
    return { behavior: 'allow', updatedInput: answer.updated_input ?? input, updatedPermissions: updates };
  };
}

// An update as a caller writes it; rules come as pairs of a tool and a content.
function permissionUpdate({ rules, ...update }) {
  return rules ? { ...update, rules: rules.map(([toolName, ruleContent]) => ({ toolName, ruleContent: ruleContent ?? undefined })) } : update;
}

function hookMatcher(event, row) {
  const next = answersOf(row.returns);
  const hook = async (input, toolUseID) => {
    const { $sleep, $raise, continue_, async_, ...answer } = next();
    put('hook', { event, input, tool_use_id: toolUseID ?? null });
    if ($sleep) await pause($sleep * 1000);
    if ($raise !== undefined) throw new Error($raise);
    if (continue_ !== undefined) answer.continue = continue_;
    if (async_ !== undefined) answer.async = async_;
    return answer;
  };
  return { matcher: row.matcher ?? undefined, timeout: row.timeout, onFailure: row.on_failure, hooks: [hook] };
}

const ZOD = { number: z.number, string: z.string, integer: z.number, boolean: z.boolean };

// How many calls of a server's tools are under way, and whether a call met another one.
class Inside {
  #count = 0;
  #met = () => {};
  #both = new Promise((resolve) => { this.#met = resolve; });

  async meets(seconds) {
    this.#count += 1;
    if (this.#count > 1) this.#met();
    const late = Symbol('late');
    const first = await Promise.race([this.#both, pause(seconds * 1000, late)]);
    this.#count -= 1;
    return first !== late;
  }
}

function mcpServer(name, tools) {
  const inside = new Inside();
  const built = Object.entries(tools).map(([toolName, row]) => {
    const fields = Object.entries(row.schema.properties).map(([field, { type }]) => [field, ZOD[type]()]);
    return tool(toolName, row.description ?? toolName, Object.fromEntries(fields), async (args) => {
      put('tool', { server: name, tool: toolName, arguments: args });
      if (row.raise !== undefined) throw new Error(row.raise);
      if (row.meets !== undefined) put('tool', { tool: toolName, met: await inside.meets(row.meets) });
      const { is_error, ...result } = row.returns;
      return is_error === undefined ? result : { ...result, isError: is_error };
    }, { annotations: row.annotations });
  });
  return createSdkMcpServer({ name, version: '1.0.0', tools: built });
}

const userFrame = (content) => ({ type: 'user', message: { role: 'user', content }, parent_tool_use_id: null });

async function* promptFrames(frames, seen) {
  for (const frame of frames) {
    if (!frame.$after) yield frame;
    else while (!isLike(frame.$after, await seen.next())) { /* not yet */ }
  }
}

// Messages in the order of their arrival, for one who waits for them.
class Seen {
  #messages = [];
  #wake = () => {};

  put(message) {
    this.#messages.push(message);
    this.#wake();
  }

  async next() {
    while (!this.#messages.length) await new Promise((resolve) => { this.#wake = resolve; });
    return this.#messages.shift();
  }
}

async function playQuery(options) {
  const seen = new Seen();
  const prompt = typeof spec.prompt === 'string' ? spec.prompt : promptFrames(spec.prompt, seen);
  try {
    for await (const message of query({ prompt, options })) {
      put('message', message);
      seen.put(message);
    }
  } catch (error) {
    put('raise', { where: 'query', ...fault(error) });
  }
}

// A conversation: steps put prompts into an open stream and watch the messages that come out.
class Conversation {
  #waiting = [];
  #wake = () => {};
  #open = true;
  #seen = [];
  #lookedAt = 0;
  #ended = false;
  #news = () => {};

  async *prompts() {
    while (this.#open || this.#waiting.length) {
      if (this.#waiting.length) yield this.#waiting.shift();
      else await new Promise((resolve) => { this.#wake = resolve; });
    }
  }

  async play(options) {
    this.query = query({ prompt: this.prompts(), options });
    const reader = this.#read();
    for (const step of spec.steps) await this.#step(step);
    this.#open = false;
    this.#wake();
    await Promise.race([reader, pause(PATIENCE, undefined, { ref: false })]);
  }

  async #read() {
    try {
      for await (const message of this.query) {
        put('message', message);
        this.#seen.push(message);
        this.#news();
      }
    } catch (error) {
      put('raise', { where: 'receive_messages', ...fault(error) });
    }
    this.#ended = true;
    this.#news();
  }

  async #step(step) {
    if (step.query !== undefined) return this.#ask(step.query);
    if (step.until !== undefined) return this.#until(step);
    if (step.until_end !== undefined) return this.#until({ until: () => false });
    if (step.until_file !== undefined) return untilFile(path.join(spec.project, step.until_file));
    if (step.until_gate !== undefined) return untilFile(path.join(spec.gates, step.until_gate));
    if (step.release !== undefined) return fetch(`${spec.url}/gates/${step.release}`, { method: 'POST', body: '{}' });
    if (step.kill !== undefined) return process.kill(agentPid(), step.kill);
    try {
      const result = await this.query[camel(step.call)](...(step.args ?? []).map((each) => this.#argument(each)));
      put('call', { method: step.call, result: result ?? null });
    } catch (error) {
      put('call', { method: step.call, raise: fault(error) });
    }
  }

  #ask(prompt) {
    this.#waiting.push(...(typeof prompt === 'string' ? [userFrame(prompt)] : prompt));
    this.#wake();
  }

  async #until(step) {
    const end = Date.now() + (step.timeout ? step.timeout * 1000 : PATIENCE);
    while (!this.#arrived(step.until)) {
      if (Date.now() >= end) return put('waited', { for: step.until });
      await Promise.race([new Promise((resolve) => { this.#news = resolve; }), pause(end - Date.now(), undefined, { ref: false })]);
    }
  }

  #arrived(pattern) {
    while (this.#lookedAt < this.#seen.length) {
      if (isLike(pattern, this.#seen[this.#lookedAt++])) return true;
    }
    return this.#ended;
  }

  #argument(argument) {
    if (typeof argument !== 'string' || !argument.startsWith('@')) return argument;
    return this.#seen.findLast((message) => message[argument.slice(1)])?.[argument.slice(1)];
  }
}

const CLASSES = {
  ResultMessage: (m) => m.type === 'result',
  AssistantMessage: (m) => m.type === 'assistant',
  UserMessage: (m) => m.type === 'user',
  StreamEvent: (m) => m.type === 'stream_event',
  SystemMessage: (m) => m.type === 'system',
  TaskStartedMessage: (m) => m.subtype === 'task_started',
  TaskNotificationMessage: (m) => m.subtype === 'task_notification',
};

function isLike(pattern, message) {
  if (typeof pattern === 'function') return pattern(message);
  if (typeof pattern === 'string') return CLASSES[pattern](message);
  return Object.entries(pattern).every(([name, value]) => {
    if (name === 'class') return CLASSES[value](message);
    return typeof value === 'object' ? isLike(value, message[name] ?? {}) : message[name] === value;
  });
}

async function untilFile(name) {
  for (let tries = 0; tries < PATIENCE / 20; tries += 1) {
    if (fs.existsSync(name)) return;
    await pause(20);
  }
  put('waited', { for: path.basename(name) });
}

function agentPid() {
  return JSON.parse(fs.readFileSync(spec.processes, 'utf8').trim().split('\n').at(-1)).pid;
}

// The processor time of this process and of all that has ended below it, in seconds; 0 where nothing tells.
function spent() {
  try {
    const fields = fs.readFileSync('/proc/self/stat', 'utf8').split(') ').at(-1).split(' ');
    return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / 100;
  } catch {
    return 0;
  }
}

async function play() {
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, job.env);
  process.chdir(job.cwd);
  spec = JSON.parse(fs.readFileSync(job.arguments[0], 'utf8'));
  if (spec.steps) await new Conversation().play(buildOptions());
  else await playQuery(buildOptions());
  // A process of its own would not end before what it has started.
  while (process.getActiveResourcesInfo().includes('ProcessWrap')) await pause(5);
}

const tell = (row) => process.stdout.write(JSON.stringify(row) + '\n');

function breakDown(error) {
  fs.writeFileSync(job.stderr, String(error?.stack ?? error));
  process.stdout.write(JSON.stringify({ code: 1, cpu: 0 }) + '\n', () => process.exit(1));
}
process.on('uncaughtException', breakDown);

for await (const line of readline.createInterface({ input: process.stdin })) {
  job = JSON.parse(line);
  fs.writeFileSync(job.stderr, '');
  tell({ pid: process.pid });
  const before = spent();
  await play();
  tell({ code: 0, cpu: spent() - before });
}
