/**
 * How many look-ups an SPF record asks of every receiver: with more than ten of them it counts as broken (RFC
 * 7208 §4.6.4).
 */
import type { DnsObserver } from '../../../protocols/dns/dns-observer.ts'
import type { Problem } from './observation.ts'
import { isSpf, parseSpf, type SpfTerm } from './spf-record.ts'
import { textsOf } from './values.ts'

interface SpfCost {
  lookUps: number
  /** Number of void look-ups (RFC 7208 §4.6.4 allows two). */
  voids: number
  problems: Problem[]
}

const LOOK_UPS_MAX = 10
const VOIDS_MAX = 2
const ADDRESS_TERMS = new Set(['a', 'mx', 'ptr', 'exists'])
/** Whoever counts that far knows enough. */
const COUNTED_LOOK_UPS_MAX = 30

/** @param host whose record it is @param text one for which `isSpf` holds */
export async function spfCost(host: string, text: string, witness: DnsObserver): Promise<SpfCost> {
  const cost: SpfCost = { lookUps: 0, voids: 0, problems: [] }
  await addCost(cost, host, text, witness, [host])
  const { lookUps, voids, problems } = cost
  if (lookUps > LOOK_UPS_MAX)
    problems.push({
      code: 'too_many_look_ups',
      message: `The SPF record needs ${lookUps >= COUNTED_LOOK_UPS_MAX ? 'far more' : lookUps} DNS lookups; more than ${LOOK_UPS_MAX} make it invalid (permerror). Remove includes that are not needed.`,
    })
  if (voids > VOIDS_MAX)
    problems.push({
      code: 'too_many_void_look_ups',
      message: `${voids} DNS lookups of the SPF record find nothing; more than ${VOIDS_MAX} make it invalid (permerror). Remove the names that no longer exist.`,
    })
  return cost
}

async function addCost(
  cost: SpfCost,
  host: string,
  text: string,
  witness: DnsObserver,
  path: readonly string[],
): Promise<void> {
  const { terms } = parseSpf(text)
  const hasAll = terms.some(({ name }) => name === 'all')
  for (const term of terms) {
    if (cost.lookUps >= COUNTED_LOOK_UPS_MAX) return
    if (ADDRESS_TERMS.has(term.name) && !term.isModifier) await addAddresses(cost, host, term, witness)
    else if (term.name === 'include' || (term.name === 'redirect' && !hasAll))
      await addRecord(cost, term, witness, path)
  }
}

async function addAddresses(cost: SpfCost, host: string, { name, value }: SpfTerm, witness: DnsObserver) {
  cost.lookUps++
  const target = value.replace(/\/.*$/, '') || host
  if (target.includes('%') || name === 'ptr' || name === 'exists') return
  const answer = await witness.ask(target, name === 'mx' ? 'MX' : 'A')
  if (answer.kind === 'unknown' || answer.records.length > 0) return
  const isVoid = name === 'mx' || (await witness.ask(target, 'AAAA').then(isEmpty))
  if (isVoid) cost.voids++
}

function isEmpty(answer: Awaited<ReturnType<DnsObserver['ask']>>): boolean {
  return answer.kind === 'answer' && answer.records.length === 0
}

async function addRecord(cost: SpfCost, { value }: SpfTerm, witness: DnsObserver, path: readonly string[]) {
  cost.lookUps++
  const target = value.toLowerCase().replace(/\.$/, '')
  if (target.includes('%')) return
  if (path.includes(target))
    return void cost.problems.push({
      code: 'spf_loop',
      message: `The SPF record includes ${target} in a loop.`,
    })
  const answer = await witness.ask(target, 'TXT')
  if (answer.kind === 'unknown') return
  const texts = textsOf(answer.records).filter(isSpf)
  if (answer.records.length === 0) cost.voids++
  if (texts.length === 1) return addCost(cost, target, texts[0]!, witness, [...path, target])
  const what = texts.length === 0 ? 'no SPF record' : `${texts.length} SPF records`
  cost.problems.push({
    code: 'broken_include',
    message: `${target}, which the SPF record includes, has ${what}, which makes the whole record invalid (permerror).`,
  })
}
