/** Checks whether recipients can open the links that broadcasts contain. Pure. */
import { isHttps, reachOf } from '../../protocols/dns/url-reach.ts'

export interface LinkBase {
  /** `tracking.base_url` where it is set, else `http.base_url`. */
  url: string
  /** Name of the setting that the URL comes from. */
  setting: string
}

const AFFECTED_FEATURES = 'unsubscribe links, open tracking and click tracking'

/** Fault if only this machine can open the links; undefined otherwise. */
export function linkFault({ url, setting }: LinkBase): string | undefined {
  const reach = reachOf(url)
  if (reach !== 'loopback' && reach !== 'invalid') return undefined
  const fault =
    reach === 'invalid'
      ? `\`${setting}\` is ${url}, which is no http(s) URL`
      : `\`${setting}\` is ${url}, which only this machine can open`
  return `Links in this broadcast would not work for its recipients (${AFFECTED_FEATURES}): ${fault}. Set \`${setting}\` to the public https address of this installation (in the environment: ${variableOf(setting)}) and restart it. Until then, broadcasts can go to contacts at the simulator's domain only.`
}

function variableOf(setting: string): string {
  return `MAILHORN_${setting.replaceAll('.', '_').toUpperCase()}`
}

/** Warning about links that work for some recipients only; undefined when there is none. */
export function linkWarning({ url, setting }: LinkBase): string | undefined {
  const reach = reachOf(url)
  const noOneClick = isHttps(url)
    ? ''
    : ' One-click unsubscribe does not work, since mailbox providers accept it over https only (RFC 8058).'
  if (reach === 'private')
    return `\`${setting}\` is ${url}, a private address: recipients outside your network cannot open ${AFFECTED_FEATURES}.${noOneClick}`
  if (reach === 'public' && noOneClick) return `\`${setting}\` is ${url}, without https.${noOneClick}`
  return undefined
}
