/** Checks whether recipients can open the links that this installation puts into emails. */
import { isHttps, reachOf } from '../../protocols/dns/url-reach.ts'
import { bad, type DoctorFinding, type Examination, good } from './finding.ts'

export interface BaseUrlOptions {
  /** Value of `http.base_url`; empty if it is not set. */
  baseUrl: string
  /** Value of `tracking.base_url`, in the same form. */
  trackingBaseUrl: string
  /** Listen address that `http.base_url` is derived from when it is not set, such as `127.0.0.1:3000`. */
  listensAt: string
  mailHost: string
  /** Whether `mail_host` is not a public DNS name, so that email can only be sent to the simulator. */
  laboratory: boolean
}

const CHECK = 'base_url'
const NO_ONE_CLICK =
  'One-click unsubscribe does not work, since mailbox providers accept it over https only (RFC 8058).'

export function baseUrl(options: BaseUrlOptions): Examination {
  const { trackingBaseUrl } = options
  const own = options.baseUrl || `http://${options.listensAt}`
  const tracking: DoctorFinding[] = trackingBaseUrl
    ? [findingOf('tracking.base_url', trackingBaseUrl, options)]
    : []
  return {
    check: CHECK,
    examine: async () => [findingOf('http.base_url', own, options), ...tracking],
  }
}

function findingOf(
  setting: string,
  url: string,
  { mailHost, laboratory, ...options }: BaseUrlOptions,
): DoctorFinding {
  const reach = reachOf(url)
  const isDerived = setting === 'http.base_url' && options.baseUrl === ''
  const statement = isDerived ? `${setting} is not set, so links point to ${url}` : `${setting} is ${url}`
  const advice = `Set ${setting} to the public https URL of this installation, such as https://${mailHost}, and restart the service.`
  if (reach === 'invalid')
    return bad('failed', CHECK, url, `${statement}, which is not an http(s) URL.`, advice)
  if (laboratory)
    return good(CHECK, url, `${statement}. This is sufficient while you only send to the simulator.`)
  if (reach === 'loopback')
    return bad(
      'failed',
      CHECK,
      url,
      `${statement}, which is a loopback address: links in emails do not work for recipients, and broadcasts to real recipients are rejected.`,
      advice,
    )
  if (reach === 'private')
    return bad(
      'warning',
      CHECK,
      url,
      `${statement}, which is a private address: recipients outside your network cannot open links.${isHttps(url) ? '' : ` ${NO_ONE_CLICK}`}`,
      advice,
    )
  if (!isHttps(url)) return bad('warning', CHECK, url, `${statement}, without https. ${NO_ONE_CLICK}`, advice)
  return good(CHECK, url, `${statement}.`)
}
