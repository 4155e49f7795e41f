/**
 * Checks whether senders that honour the MTA-STS policy of the provider host could deliver: port 25 must show
 * them a certificate that they can verify.
 */
import { type MxFault, mxFaultText } from '../../pipeline/delivery/tls-policy/mx-certificate.ts'
import { bad, type Examination, good } from './finding.ts'

interface MtaStsOptions {
  mailHost: string
  /** Port of the MX hosts. */
  port: number
  /** Mode of the policy that is published; null while there is none. */
  publishedMode: 'enforce' | 'testing' | null
  /** Looks at port 25 of the MX hosts as a sender does. */
  findFault(): Promise<MxFault | undefined>
}

const CHECK = 'mta_sts'
const CERTIFICATE_ADVICE =
  'Let port 25 show a certificate for this name from a public authority: set smtp.tls.cert_file and smtp.tls.key_file, or acme.enabled.'
const NETWORK_ADVICE =
  'Let this server reach its own public address (hairpin NAT, or a firewall rule). Until then the policy is not enforced, even if port 25 is correct as seen from outside.'
const ADDRESS_ADVICE = 'Add the address to dns.addresses.'

export function mtaSts({ mailHost, port, publishedMode, findFault }: MtaStsOptions): Examination {
  return {
    check: CHECK,
    async examine() {
      const fault = await findFault()
      const state =
        publishedMode === null
          ? 'The MTA-STS policy is not published.'
          : `The MTA-STS policy is published in the mode ${publishedMode}.`
      if (!fault) return [good(CHECK, mailHost, `Senders can verify port ${port}. ${state}`)]
      const status = publishedMode === 'enforce' ? 'failed' : 'warning'
      const advice = adviceOf(fault)
      return [bad(status, CHECK, fault.host, `${mxFaultText(fault, port)} ${state}`, advice)]
    },
  }
}

function adviceOf({ address, isReached }: MxFault): string {
  if (address === null) return ADDRESS_ADVICE
  return isReached ? CERTIFICATE_ADVICE : NETWORK_ADVICE
}
