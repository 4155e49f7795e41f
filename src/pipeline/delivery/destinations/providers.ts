/**
 * Large mailbox providers, recognized by the names of their MX hosts, and their limits. All domains of a
 * provider are one destination, so that limits and pauses apply to them together.
 */

export interface DestinationLimits {
  /** Concurrent sessions. */
  connections: number
  /** Messages per session. */
  messagesPerConnection: number
  /** Attempts started per second; null when there is no limit. */
  messagesPerSecond: number | null
}

interface Provider extends DestinationLimits {
  /** Name of the destination. It contains no dot, so that it cannot be the name of an MX host. */
  name: string
  /** Names of MX hosts, or suffixes of them after a dot, in lower case. */
  hosts: readonly string[]
}

/** Limits of destinations that are not in the table. */
export const USUAL_LIMITS: DestinationLimits = {
  connections: 20,
  messagesPerConnection: 100,
  messagesPerSecond: null,
}

function provider(name: string, hosts: string, connections: number, messagesPerConnection: number): Provider {
  return { name, hosts: hosts.split(' '), connections, messagesPerConnection, messagesPerSecond: null }
}

export const PROVIDERS: readonly Provider[] = [
  provider('google', 'google.com googlemail.com', 10, 50),
  provider('yahoo', 'yahoodns.net', 10, 20),
  provider('outlook', 'olc.protection.outlook.com', 10, 50),
  provider('microsoft365', 'mail.protection.outlook.com mx.microsoft', 20, 50),
  provider('apple', 'icloud.com apple.com', 5, 5),
  provider('proofpoint', 'pphosted.com ppe-hosted.com', 20, 100),
  provider(
    'mimecast',
    'mimecast.com mimecast.co.za mimecast-offshore.com mimecast.net mimecast.org',
    20,
    100,
  ),
  provider('barracuda', 'barracudanetworks.com ess.barracuda.com', 10, 50),
  provider('cisco', 'iphmx.com', 20, 100),
  provider('messagelabs', 'messagelabs.com', 10, 50),
  provider('gmx', 'gmx.net web.de kundenserver.de 1and1.com ionos.com perfora.net', 10, 50),
  provider('telekom', 't-online.de', 5, 20),
  provider('orange', 'orange.fr wanadoo.fr', 2, 50),
  provider('free', 'free.fr', 4, 20),
  provider('sfr', 'sfr.fr', 4, 50),
  provider('laposte', 'laposte.net', 4, 50),
  provider('comcast', 'comcast.net', 10, 100),
  provider('att', 'att.net prodigy.net', 10, 50),
  provider('charter', 'charter.net rr.com', 10, 50),
  provider('cox', 'cox.net', 5, 20),
  provider('libero', 'libero.it italiaonline.it', 4, 50),
  provider('mailru', 'mail.ru', 10, 50),
  provider('yandex', 'yandex.ru yandex.net', 10, 50),
  provider('qq', 'qq.com', 5, 20),
  provider('netease', '163.com 126.com netease.com', 5, 20),
  provider('naver', 'naver.com', 5, 20),
  provider('docomo', 'docomo.ne.jp', 2, 20),
  provider('au', 'au.com ezweb.ne.jp', 2, 20),
  provider('softbank', 'softbank.ne.jp softbank.jp', 2, 20),
  provider('zoho', 'zoho.com zoho.eu zoho.in', 10, 50),
  provider('fastmail', 'messagingengine.com', 10, 100),
  provider('proton', 'protonmail.ch proton.ch', 10, 100),
]

/**
 * Name for all destinations that are not in the table. They share reputation data, so warm-up counts them
 * together.
 */
export const OTHERS = 'other'

/** Limits set by the operator, which override the table. */
export type LimitSettings = Readonly<
  Record<string, { readonly [K in keyof DestinationLimits]?: number | null }>
>

/** @returns the limits of a destination, which may be given by its name or by one of its hosts */
export function destinationLimits(settings: LimitSettings): (name: string) => DestinationLimits {
  const set = new Map(Object.entries(settings))
  return name => {
    const provider = BY_NAME.get(name) ?? providerOf([name])
    const { connections, messagesPerConnection, messagesPerSecond } = provider ?? USUAL_LIMITS
    const own = set.get(provider?.name ?? name)
    return {
      connections: own?.connections ?? connections,
      messagesPerConnection: own?.messagesPerConnection ?? messagesPerConnection,
      messagesPerSecond: own?.messagesPerSecond ?? messagesPerSecond,
    }
  }
}

/** Returns the provider that all the hosts belong to. */
export function providerOf(hosts: readonly string[]): Provider | undefined {
  const provider = hosts[0] === undefined ? undefined : BY_SUFFIX.get(suffixOf(hosts[0]) ?? '')
  return provider && hosts.every(host => BY_SUFFIX.get(suffixOf(host) ?? '') === provider)
    ? provider
    : undefined
}

const BY_SUFFIX: ReadonlyMap<string, Provider> = new Map(
  PROVIDERS.flatMap(entry => entry.hosts.map(host => [host, entry] as const)),
)

const BY_NAME: ReadonlyMap<string, Provider> = new Map(PROVIDERS.map(entry => [entry.name, entry]))

/** Returns the longest suffix of the host name that is in the table. */
function suffixOf(host: string): string | undefined {
  for (let name = host; name.includes('.'); name = name.slice(name.indexOf('.') + 1))
    if (BY_SUFFIX.has(name)) return name
  return undefined
}
