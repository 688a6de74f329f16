import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;

/** The port's authority, which says yes after 4 ms, always. */
public class PortAuthority {
    public static void main(String[] args) throws IOException {
        String[] addr = System.getenv("ADDR").split(":");
        ServerSocket listener = new ServerSocket(Integer.parseInt(addr[1]), 100, InetAddress.getByName(addr[0]));
        while (true) {
            Socket gate = listener.accept();
            new Thread(() -> {
                try (gate) {
                    gate.setTcpNoDelay(true);
                    BufferedReader in = new BufferedReader(new InputStreamReader(gate.getInputStream()));
                    for (String car; (car = in.readLine()) != null; ) {
                        Thread.sleep(4);
                        gate.getOutputStream().write(("cleared " + car.length() + "\n").getBytes());
                    }
                } catch (IOException | InterruptedException e) {
                    // closed
                }
            }).start();
        }
    }
}
