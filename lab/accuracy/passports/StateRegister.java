import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;

/** A state's register: 2 ms on good days, 15 ms today. */
public class StateRegister {
    public static void main(String[] args) throws IOException {
        int millis = "0".equals(System.getenv("FAULT")) ? 2 : 15;
        String[] addr = System.getenv("ADDR").split(":");
        ServerSocket listener = new ServerSocket(Integer.parseInt(addr[1]), 10, InetAddress.getByName(addr[0]));
        while (true) {
            Socket client = listener.accept();
            new Thread(() -> {
                try (client) {
                    client.setTcpNoDelay(true);
                    BufferedReader in = new BufferedReader(new InputStreamReader(client.getInputStream()));
                    for (String number; (number = in.readLine()) != null; ) {
                        Thread.sleep(millis);
                        client.getOutputStream().write((number + " valid\n").getBytes());
                    }
                } catch (IOException | InterruptedException e) {
                    // closed
                }
            }).start();
        }
    }
}
