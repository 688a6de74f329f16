package claims;

import jakarta.xml.bind.annotation.XmlAccessType;
import jakarta.xml.bind.annotation.XmlAccessorType;
import jakarta.xml.bind.annotation.XmlRootElement;
import java.util.ArrayList;
import java.util.List;

/** A claim. */
@XmlRootElement
@XmlAccessorType(XmlAccessType.FIELD)
public class Claim {
    public int id;
    public String policy;
    public long cents;
    public String state;
    public List<Note> notes = new ArrayList<>();

    /** What a clerk has noted. */
    @XmlAccessorType(XmlAccessType.FIELD)
    public static class Note {
        public String clerk;
        public String text;
    }
}
