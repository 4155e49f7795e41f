/** Whether the readers of a broadcast can open the links that we put into it. Pure. */
import { isHttps, reachOf } from '../../protocols/dns/url-reach.ts'

/** Where links in broadcasts lead. */
export interface LinkBase {
  /** `tracking.base_url` where it is set, else `http.base_url`. */
  url: string
  /** The setting that says so. */
  setting: string
}

const WHAT_FAILS = 'unsubscribe links, open tracking and click tracking'

/** Why the links work for nobody but this machine; undefined where others can open them. */
export function linkFault({ url, setting }: LinkBase): string | undefined {
  const reach = reachOf(url)
  if (reach !== 'loopback' && reach !== 'invalid') return undefined
  const fault =
    reach === 'invalid'
      ? `\`${setting}\` is ${url}, which is no http(s) URL`
      : `\`${setting}\` is ${url}, which only this machine can open`
  return `Links in this broadcast would not work for its recipients (${WHAT_FAILS}): ${fault}. Set \`${setting}\` to the public https address of this installation (in the environment: ${variableOf(setting)}) and restart it. Until then, broadcasts can go to contacts at the simulator's domain only.`
}

function variableOf(setting: string): string {
  return `MAILHORN_${setting.replaceAll('.', '_').toUpperCase()}`
}

/** What works less well than it could; undefined where there is nothing to say. */
export function linkWarning({ url, setting }: LinkBase): string | undefined {
  const reach = reachOf(url)
  if (reach === 'private')
    return `\`${setting}\` is ${url}, a private address: recipients outside your network cannot open ${WHAT_FAILS}.`
  if (reach === 'public' && !isHttps(url))
    return `\`${setting}\` is ${url}, without https: mailbox providers do not accept one-click unsubscribe links over plain HTTP (RFC 8058).`
  return undefined
}
