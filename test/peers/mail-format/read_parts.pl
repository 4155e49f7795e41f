# Prints what Perl's Email::MIME reads in every message of a folder, as JSON by file name.
use strict;
use warnings;
use Email::MIME;
use Email::MIME::ContentType;
use JSON::PP;
use MIME::Base64;

sub mailboxes {
    my ($message, $field) = @_;
    return [map { [$_->phrase // '', $_->address] } $message->header_as_obj($field)->addresses];
}

sub part_of {
    my ($part) = @_;
    my $type = parse_content_type($part->header_raw('Content-Type'));
    my $disposition = $part->header_raw('Content-Disposition');
    return {
        type        => "$type->{type}/$type->{subtype}",
        charset     => $type->{attributes}{charset},
        method      => $type->{attributes}{method},
        disposition => defined $disposition ? parse_content_disposition($disposition)->{type} : undef,
        filename    => scalar $part->filename,
        contentId   => scalar $part->header_raw('Content-ID'),
        content     => encode_base64($part->body, ''),
    };
}

my %read;
for my $path (glob "$ARGV[0]/*.eml") {
    open my $file, '<:raw', $path or die "$path: $!";
    my $message = Email::MIME->new(do { local $/; <$file> });
    my @leaves;
    $message->walk_parts(sub { push @leaves, $_[0] unless $_[0]->subparts });
    $read{$path =~ s{.*/}{}r} = {
        subject    => $message->header_str('Subject'),
        from       => mailboxes($message, 'From'),
        to         => mailboxes($message, 'To'),
        inReplyTo  => scalar $message->header('In-Reply-To'),
        references => scalar $message->header('References'),
        parts      => [map { part_of($_) } @leaves],
    };
}
print JSON::PP->new->ascii->canonical->encode(\%read);
