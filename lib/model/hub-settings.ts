import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** Where the hub is, who asks, and where its files are kept; the environment variables are huggingface_hub's own. */
export interface HubSettings {
  /** Without a slash at the end. */
  url: string;
  cacheFolder: string;
  offline: boolean;
  token: string | undefined;
}

const isOn = (value: string | undefined): boolean => /^(1|on|yes|true)$/i.test(value ?? '');

/**
 * Reads HF_ENDPOINT, HF_HOME, HF_HUB_CACHE, HF_HUB_OFFLINE, HF_TOKEN, HUGGING_FACE_HUB_TOKEN and the saved token file.
 *
 * @param hubUrl replaces HF_ENDPOINT
 */
export async function readHubSettings(hubUrl?: string, environment = process.env): Promise<HubSettings> {
  const home = environment.HF_HOME || join(environment.XDG_CACHE_HOME || join(homedir(), '.cache'), 'huggingface');
  const saved = await readFile(environment.HF_TOKEN_PATH || join(home, 'token'), 'utf8').catch(() => '');
  return {
    url: (hubUrl || environment.HF_ENDPOINT || 'https://huggingface.co').replace(/\/+$/, ''),
    cacheFolder: environment.HF_HUB_CACHE || environment.HUGGINGFACE_HUB_CACHE || join(home, 'hub'),
    offline: isOn(environment.HF_HUB_OFFLINE),
    token: environment.HF_TOKEN || environment.HUGGING_FACE_HUB_TOKEN || saved.trim() || undefined,
  };
}

/** fetch with the user's token, which only ever goes to the hub itself, and with the caller's signal. */
export function hubFetch(settings: HubSettings, signal: AbortSignal | undefined): typeof fetch {
  const origin = new URL(settings.url).origin;
  return async (input, init) => {
    const url = input instanceof Request ? input.url : String(input);
    const headers = new Headers(init?.headers);
    if (settings.token && new URL(url).origin === origin) headers.set('authorization', `Bearer ${settings.token}`);
    return fetch(input, { ...init, headers, signal: signal ?? null });
  };
}
