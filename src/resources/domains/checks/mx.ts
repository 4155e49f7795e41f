/** Checks MX records: that of the return path, and that of the domain for receiving. */
import type { DnsProbe, Problem } from './observation.ts'
import { unknown } from './observation.ts'
import { targetProblems } from './values.ts'

interface ExchangeProbe {
  domain: string
  host: string
  exchange: string
  /**
   * Whether additional MX hosts are a problem. They are for bounces, but may be intended for the mail of the
   * domain.
   */
  isAlone: boolean
}

export function exchangeProbe({ domain, host, exchange, isAlone }: ExchangeProbe): DnsProbe {
  return async witness => {
    const answer = await witness.ask(host, 'MX')
    if (answer.kind === 'unknown') return unknown(answer.reason)
    const { ttlSeconds } = answer
    const records = answer.records
      .flatMap(record =>
        record.type === 'MX' ? [{ ...record, exchange: record.exchange.toLowerCase() }] : [],
      )
      .sort((a, b) => a.preference - b.preference)
    const found = records.map(({ preference, exchange: name }) => `${preference} ${name}`)
    const own = records.find(record => record.exchange === exchange)
    if (!own) {
      const problems = records.flatMap(record => targetProblems(record.exchange, exchange, domain))
      if (records.length > 0 && problems.length === 0) problems.push(elsewhere(host, found, exchange))
      return { verdict: records.length > 0 ? 'wrong' : 'absent', found, problems, ttlSeconds }
    }
    const others = records.filter(record => record !== own)
    const before = others.filter(({ preference }) => preference <= own.preference)
    const problems = others.length === 0 ? [] : [besides(host, others, exchange)]
    return { verdict: isAlone && before.length > 0 ? 'wrong' : 'right', found, problems, ttlSeconds }
  }
}

function elsewhere(host: string, found: readonly string[], exchange: string): Problem {
  const message = `${host} has other mail servers (${found.join(', ')}); it must have only ${exchange}.`
  return { code: 'other_exchange', message }
}

function besides(host: string, others: readonly { exchange: string }[], exchange: string): Problem {
  const names = others.map(other => other.exchange || 'none (".")').join(', ')
  return {
    code: 'extra_mx',
    message: `${host} has further MX records (${names}): mail that is sent there does not reach ${exchange}. Remove them.`,
  }
}
