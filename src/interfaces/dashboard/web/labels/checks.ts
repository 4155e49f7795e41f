/** Names of the checks that the doctor runs. */

const CHECKS: Readonly<Record<string, string>> = {
  service: 'Service',
  public_address: 'Public address',
  ports: 'Ports of this server',
  outbound_port: 'Outbound port 25',
  base_url: 'Base URL of links',
  reverse_name: 'Reverse DNS (PTR)',
  zone_delegation: 'DNS zone delegation',
  zone_records: 'DNS zone records',
  zone_keys: 'DKIM keys in DNS',
  own_dmarc: 'DMARC of the provider host',
  blocklist: 'DNS blocklist',
  certificate: 'TLS certificate',
  clock: 'System clock',
  inbound_mail: 'Inbound SMTP (port 25)',
  mta_sts: 'MTA-STS policy',
  disk_space: 'Free disk space',
  disk_sync: 'Disk sync latency',
  file_permissions: 'Data directory permissions',
  open_files: 'Open files limit',
  database_schema: 'Database schema',
  backup: 'Backup',
}

export function checkWords(check: string): string {
  return CHECKS[check] ?? check.replaceAll('_', ' ')
}
