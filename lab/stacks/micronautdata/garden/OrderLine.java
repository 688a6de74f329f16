package garden;

import io.micronaut.core.annotation.Introspected;

@Introspected
public record OrderLine(int id, String plant, long cents) {}
