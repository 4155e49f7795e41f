/** Steps of the setup of a public installation: commands, records and settings to copy, and their checks. */
import type { Doctor, SetupPlan } from '../api/types.ts'
import { Copy } from '../components/controls.tsx'
import { Findings } from '../components/findings.tsx'
import { findingsOf, type SetupStep, settingLines, zoneLines } from '../labels/setup.ts'
import { RecordBox } from './domain-records.tsx'

interface StepContentProps {
  plan: SetupPlan
}

/** Findings of a step; nothing until the checks have run. */
export function Outcome({ step, report }: { step: SetupStep; report: Doctor | undefined }) {
  const findings = findingsOf(step, report)
  if (findings.length === 0) return null
  return (
    <section aria-label="Checks">
      <h3>Checks</h3>
      <Findings findings={findings} />
    </section>
  )
}

export function FirewallStep({ plan: { tcp_ports, udp_ports, firewall } }: StepContentProps) {
  return (
    <>
      <p class="quiet">
        Allow incoming connections to TCP ports {tcp_ports.join(', ')} and UDP port {udp_ports.join(', ')}, on
        this server and in the control panel of the hosting provider.
      </p>
      <Copy block text={firewall} label="Copy firewall commands" />
    </>
  )
}

export function RecordsStep({ plan }: StepContentProps) {
  return (
    <>
      <p class="quiet">
        Mailhorn serves the DNS zone of {plan.mail_host} itself. These records delegate it to this server: add
        them where the domain above it is hosted. They take effect within minutes to an hour.
      </p>
      <Copy block text={zoneLines(plan)} label="Copy DNS records" />
      <details>
        <summary>Copy name and value of each record</summary>
        {plan.dns_records.map(({ name, type, value }) => (
          <RecordBox
            key={`${name} ${value}`}
            name={type}
            note={type === 'NS' ? 'Delegates the zone.' : 'Address of a name server (glue).'}
            record={{ type, host: name, value }}
          />
        ))}
      </details>
    </>
  )
}

export function ProviderStep({ plan: { reverse_names } }: StepContentProps) {
  return (
    <>
      <p class="quiet">
        Most hosting providers have a field for the PTR (reverse DNS) record in their control panel, and open
        outbound port 25 on request. If an address is on a blocklist, ask for another one.
      </p>
      {reverse_names.map(({ address, name }) => (
        <RecordBox
          key={address}
          name="PTR"
          note={`Reverse DNS of ${address}.`}
          record={{ type: 'PTR', host: address, value: name }}
        />
      ))}
    </>
  )
}

export function ServiceStep({ plan }: StepContentProps) {
  const { mail_host, applied, settings, settings_file, unit, restart } = plan
  const others = settings.filter(({ in_use }) => !in_use).map(({ name }) => name)
  return (
    <>
      {applied ? (
        <p>
          The service runs as {mail_host}.
          {others.length > 0 && ` It has other values of ${others.join(', ')}.`}
        </p>
      ) : (
        <p class="quiet">
          Settings are read when the service starts, from <code>{settings_file}</code>. Save these there, as
          root. <code>MAILHORN_ACME_ENABLED</code> accepts the terms of service of Let’s Encrypt.
        </p>
      )}
      <Copy block text={settingLines(plan)} label="Copy settings" />
      {unit && (
        <>
          <h3>
            Save this unit as <code>/etc/systemd/system/mailhorn.service</code>
          </h3>
          <Copy block text={unit} label="Copy systemd unit" />
        </>
      )}
      <h3>Restart the service</h3>
      <Copy block text={restart} label="Copy restart command" />
      {!applied && (
        <p class="quiet">
          The dashboard is then at <code>https://{mail_host}/dashboard/</code>, once DNS works and the
          certificate is issued. Sign in there, and continue on this page.
        </p>
      )}
    </>
  )
}
