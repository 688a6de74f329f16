package policies;

/** What another company answers. */
public record Premium(String receipt, int cents) {
}
