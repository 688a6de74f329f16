/** What a rule is compiled to; each evaluation has a class of its own. */
public class Template implements java.util.function.IntUnaryOperator {
    @Override public int applyAsInt(int amount) {
        return (amount * 31 + 7) % 1009 + step(amount, 3) - step(amount, 5) + weigh(amount) - clip(amount);
    }

    static int step(int x, int y) { return x % y == 0 ? x / y : x * y; }
    static int weigh(int x) { int s = 0; for (int i = 0; i < 8; i++) s += x >> i; return s; }
    static int clip(int x) { return Math.max(-1000, Math.min(1000, x)); }
}
