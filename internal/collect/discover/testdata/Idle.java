/** Ends when its standard input does. */
public class Idle {
    public static void main(String[] args) throws Exception {
        System.out.println("up");
        while (System.in.read() >= 0) { }
    }
}
