package till;

import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.HexFormat;

/** A receipt has a chain of hashes under it, one for each receipt of the day before it. */
class Receipts extends HttpServlet {
    private static final long serialVersionUID = 1;

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws ServletException, IOException {
        try {
            MessageDigest sha = MessageDigest.getInstance("SHA-256");
            byte[] hash = ("receipt " + Main.id(request)).getBytes(StandardCharsets.UTF_8);
            for (int before = 0; before < 8_000; before++) {
                hash = sha.digest(hash);
            }
            response.setContentType("text/plain");
            response.getWriter().println(HexFormat.of().formatHex(hash));
        } catch (GeneralSecurityException e) {
            throw new ServletException(e);
        }
    }
}
