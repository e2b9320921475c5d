package shop.money;

/** An amount in cents. */
public record Money(long cents) {
    public Money plus(Money other) {
        return new Money(Math.addExact(cents, other.cents));
    }

    public Money times(int factor) {
        return new Money(Math.multiplyExact(cents, (long) factor));
    }

    @Override
    public String toString() {
        return "%d.%02d".formatted(cents / 100, cents % 100);
    }
}
