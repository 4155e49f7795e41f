/** Checkboxes for the domains to whose events a webhook is limited. */
import { useLoad } from '../api/load.ts'
import type { Domain, List } from '../api/types.ts'

interface DomainLimitProps {
  /** Ids; empty for all events. */
  domains: readonly string[]
  onDomains: (domains: string[]) => void
}

export function DomainLimit({ domains, onDomains }: DomainLimitProps) {
  const list = useLoad<List<Domain>>('/domains?limit=100')
  const known = list.data?.data ?? []
  const deleted = list.data ? domains.filter(id => !known.some(domain => domain.id === id)) : []
  const options = [...known, ...deleted.map(id => ({ id, name: 'A deleted domain' }))]
  if (options.length === 0) return null
  const toggle = (id: string) =>
    onDomains(domains.includes(id) ? domains.filter(one => one !== id) : [...domains, id])
  return (
    <fieldset>
      <legend class="small">
        <b>Limit to domains</b>
      </legend>
      <div class="row">
        {options.map(({ id, name }) => (
          <label class="check" key={id} title={id}>
            <input type="checkbox" checked={domains.includes(id)} onChange={() => toggle(id)} />
            {name}
          </label>
        ))}
      </div>
      <p class="quiet small">
        {domains.length === 0
          ? 'All domains. Select to limit.'
          : 'Only events about these domains are sent, and no events of contacts.'}
      </p>
    </fieldset>
  )
}
