/** The name servers of a customer's zone, as the checks show them. */
import type { ZoneServers } from '../../../protocols/dns/name-servers.ts'
import type { CheckStatus, Problem } from './observation.ts'

/** Result in the spelling of the API. */
export interface NameServersCheck {
  status: CheckStatus
  /** Null where it was not found. */
  zone: string | null
  servers: { name: string; address: string | null; status: string; reason: string | null }[]
  advice: string | null
  problems: Problem[]
}

export function nameServersCheck({ zone, names, servers, delegatedTo }: ZoneServers): NameServersCheck {
  const problems = [
    ...servers
      .filter(({ status }) => status !== 'answers')
      .map(({ name, status, reason }) => ({
        code: `name_server_${status}`,
        message: `The name server ${name} of ${zone} ${reason}.`,
      })),
    ...(zone === null || delegatedTo === null ? [] : mismatch(zone, names, delegatedTo)),
  ]
  const isAnswered = servers.some(({ status }) => status === 'answers')
  const hasFailed = servers.length > 0 && !isAnswered
  return {
    status: isAnswered ? 'verified' : hasFailed ? 'failed' : 'pending',
    zone,
    servers,
    advice: problems.length === 0 ? null : problems.map(({ message }) => message).join(' '),
    problems,
  }
}

function mismatch(zone: string, own: readonly string[], delegatedTo: readonly string[]): Problem[] {
  if (own.length === delegatedTo.length && own.every(name => delegatedTo.includes(name))) return []
  const message = `${zone} names ${own.join(', ')} as its name servers, but the parent zone delegates to ${delegatedTo.join(', ')}: enter the records there, and make both lists the same.`
  return [{ code: 'name_servers_differ', message }]
}
