package claims;

import jakarta.xml.bind.annotation.XmlAccessType;
import jakarta.xml.bind.annotation.XmlAccessorType;
import jakarta.xml.bind.annotation.XmlElement;
import jakarta.xml.bind.annotation.XmlRootElement;
import java.util.ArrayList;
import java.util.List;

/** The form of a claim, by the schema of the authority: most of its sections are empty. */
@XmlRootElement
@XmlAccessorType(XmlAccessType.FIELD)
public class Form {
    public int number;
    @XmlElement(name = "Insured")
    public List<Insured> insured = new ArrayList<>();
    @XmlElement(name = "Contract")
    public List<Contract> contract = new ArrayList<>();
    @XmlElement(name = "Vehicle")
    public List<Vehicle> vehicle = new ArrayList<>();
    @XmlElement(name = "Driver")
    public List<Driver> driver = new ArrayList<>();
    @XmlElement(name = "Owner")
    public List<Owner> owner = new ArrayList<>();
    @XmlElement(name = "Keeper")
    public List<Keeper> keeper = new ArrayList<>();
    @XmlElement(name = "Garage")
    public List<Garage> garage = new ArrayList<>();
    @XmlElement(name = "Expert")
    public List<Expert> expert = new ArrayList<>();
    @XmlElement(name = "Report")
    public List<Report> report = new ArrayList<>();
    @XmlElement(name = "Damage")
    public List<Damage> damage = new ArrayList<>();
    @XmlElement(name = "Part")
    public List<Part> part = new ArrayList<>();
    @XmlElement(name = "Labour")
    public List<Labour> labour = new ArrayList<>();
    @XmlElement(name = "Invoice")
    public List<Invoice> invoice = new ArrayList<>();
    @XmlElement(name = "Payment")
    public List<Payment> payment = new ArrayList<>();
    @XmlElement(name = "Account")
    public List<Account> account = new ArrayList<>();
    @XmlElement(name = "Bank")
    public List<Bank> bank = new ArrayList<>();
    @XmlElement(name = "Address")
    public List<Address> address = new ArrayList<>();
    @XmlElement(name = "Contact")
    public List<Contact> contact = new ArrayList<>();
    @XmlElement(name = "Witness")
    public List<Witness> witness = new ArrayList<>();
    @XmlElement(name = "Police")
    public List<Police> police = new ArrayList<>();
    @XmlElement(name = "Accident")
    public List<Accident> accident = new ArrayList<>();
    @XmlElement(name = "Place")
    public List<Place> place = new ArrayList<>();
    @XmlElement(name = "Weather")
    public List<Weather> weather = new ArrayList<>();
    @XmlElement(name = "Road")
    public List<Road> road = new ArrayList<>();
    @XmlElement(name = "Opponent")
    public List<Opponent> opponent = new ArrayList<>();
    @XmlElement(name = "OpponentInsurer")
    public List<OpponentInsurer> opponentInsurer = new ArrayList<>();
    @XmlElement(name = "Lawyer")
    public List<Lawyer> lawyer = new ArrayList<>();
    @XmlElement(name = "Court")
    public List<Court> court = new ArrayList<>();
    @XmlElement(name = "Injury")
    public List<Injury> injury = new ArrayList<>();
    @XmlElement(name = "Hospital")
    public List<Hospital> hospital = new ArrayList<>();
    @XmlElement(name = "Doctor")
    public List<Doctor> doctor = new ArrayList<>();
    @XmlElement(name = "Treatment")
    public List<Treatment> treatment = new ArrayList<>();
    @XmlElement(name = "Reserve")
    public List<Reserve> reserve = new ArrayList<>();
    @XmlElement(name = "Recourse")
    public List<Recourse> recourse = new ArrayList<>();
    @XmlElement(name = "Portion")
    public List<Portion> portion = new ArrayList<>();
    @XmlElement(name = "Broker")
    public List<Broker> broker = new ArrayList<>();
    @XmlElement(name = "Clerk")
    public List<Clerk> clerk = new ArrayList<>();
    @XmlElement(name = "Letter")
    public List<Letter> letter = new ArrayList<>();
    @XmlElement(name = "Attachment")
    public List<Attachment> attachment = new ArrayList<>();
    @XmlElement(name = "Photo")
    public List<Photo> photo = new ArrayList<>();
    @XmlElement(name = "Signature")
    public List<Signature> signature = new ArrayList<>();
    @XmlElement(name = "Consent")
    public List<Consent> consent = new ArrayList<>();
    @XmlElement(name = "FraudCheck")
    public List<FraudCheck> fraudCheck = new ArrayList<>();
    @XmlElement(name = "Audit")
    public List<Audit> audit = new ArrayList<>();

    /** What every section has. */
    @XmlAccessorType(XmlAccessType.FIELD)
    public static class Section {
        public String code;
        public String text;
        public Long cents;
        public Integer year;
        public Boolean checked;
    }

    @XmlAccessorType(XmlAccessType.FIELD)
    public static class Insured extends Section {
        public String insuredId;
        public String name;
        public String remark;
        public Double share;
        public Driver driver;
        public List<String> notes = new ArrayList<>();
    }

    @XmlAccessorType(XmlAccessType.FIELD)
    public static class Contract extends Section {
        public String contractId;
        public String name;
        public String remark;
        public Double share;
        public Part part;
        public List<String> notes = new ArrayList<>();
    }

    @XmlAccessorType(XmlAccessType.FIELD)
    public static class Vehicle extends Section {
        public String vehicleId;
        public String name;
        public String remark;
        public Double share;
        public Contact contact;
        public List<String> notes = new ArrayList<>();
    }

    @XmlAccessorType(XmlAccessType.FIELD)
    public static class Driver extends Section {
        public String driverId;
        public String name;
        public String remark;
        public Double share;
        public Opponent opponent;
        public List<String> notes = new ArrayList<>();
    }

    @XmlAccessorType(XmlAccessType.FIELD)
    public static class Owner extends Section {
        public String ownerId;
        public String name;
        public String remark;
        public Double share;
        public Treatment treatment;
        public List<String> notes = new ArrayList<>();
    }

    @XmlAccessorType(XmlAccessType.FIELD)
    public static class Keeper extends Section {
        public String keeperId;
        public String name;
        public String remark;
        public Double share;
        public Attachment attachment;
        public List<String> notes = new ArrayList<>();
    }

    @XmlAccessorType(XmlAccessType.FIELD)
    public static class Garage extends Section {
        public String garageId;
        public String name;
        public String remark;
        public Double share;
        public Contract contract;
        public List<String> notes = new ArrayList<>();
    }

    @XmlAccessorType(XmlAccessType.FIELD)
    public static class Expert extends Section {
        public String expertId;
        public String name;
        public String remark;
        public Double share;
        public Report report;
        public List<String> notes = new ArrayList<>();
    }

    @XmlAccessorType(XmlAccessType.FIELD)
    public static class Report extends Section {
        public String reportId;
        public String name;
        public String remark;
        public Double share;
        public Bank bank;
        public List<String> notes = new ArrayList<>();
    }

    @XmlAccessorType(XmlAccessType.FIELD)
    public static class Damage extends Section {
        public String damageId;
        public String name;
        public String remark;
        public Double share;
        public Weather weather;
        public List<String> notes = new ArrayList<>();
    }

    @XmlAccessorType(XmlAccessType.FIELD)
    public static class Part extends Section {
        public String partId;
        public String name;
        public String remark;
        public Double share;
        public Hospital hospital;
        public List<String> notes = new ArrayList<>();
    }

    @XmlAccessorType(XmlAccessType.FIELD)
    public static class Labour extends Section {
        public String labourId;
        public String name;
        public String remark;
        public Double share;
        public Clerk clerk;
        public List<String> notes = new ArrayList<>();
    }

    @XmlAccessorType(XmlAccessType.FIELD)
    public static class Invoice extends Section {
        public String invoiceId;
        public String name;
        public String remark;
        public Double share;
        public Audit audit;
        public List<String> notes = new ArrayList<>();
    }

    @XmlAccessorType(XmlAccessType.FIELD)
    public static class Payment extends Section {
        public String paymentId;
        public String name;
        public String remark;
        public Double share;
        public Garage garage;
        public List<String> notes = new ArrayList<>();
    }

    @XmlAccessorType(XmlAccessType.FIELD)
    public static class Account extends Section {
        public String accountId;
        public String name;
        public String remark;
        public Double share;
        public Payment payment;
        public List<String> notes = new ArrayList<>();
    }

    @XmlAccessorType(XmlAccessType.FIELD)
    public static class Bank extends Section {
        public String bankId;
        public String name;
        public String remark;
        public Double share;
        public Accident accident;
        public List<String> notes = new ArrayList<>();
    }

    @XmlAccessorType(XmlAccessType.FIELD)
    public static class Address extends Section {
        public String addressId;
        public String name;
        public String remark;
        public Double share;
        public Court court;
        public List<String> notes = new ArrayList<>();
    }

    @XmlAccessorType(XmlAccessType.FIELD)
    public static class Contact extends Section {
        public String contactId;
        public String name;
        public String remark;
        public Double share;
        public Portion portion;
        public List<String> notes = new ArrayList<>();
    }

    @XmlAccessorType(XmlAccessType.FIELD)
    public static class Witness extends Section {
        public String witnessId;
        public String name;
        public String remark;
        public Double share;
        public Consent consent;
        public List<String> notes = new ArrayList<>();
    }

    @XmlAccessorType(XmlAccessType.FIELD)
    public static class Police extends Section {
        public String policeId;
        public String name;
        public String remark;
        public Double share;
        public Owner owner;
        public List<String> notes = new ArrayList<>();
    }

    @XmlAccessorType(XmlAccessType.FIELD)
    public static class Accident extends Section {
        public String accidentId;
        public String name;
        public String remark;
        public Double share;
        public Labour labour;
        public List<String> notes = new ArrayList<>();
    }

    @XmlAccessorType(XmlAccessType.FIELD)
    public static class Place extends Section {
        public String placeId;
        public String name;
        public String remark;
        public Double share;
        public Witness witness;
        public List<String> notes = new ArrayList<>();
    }

    @XmlAccessorType(XmlAccessType.FIELD)
    public static class Weather extends Section {
        public String weatherId;
        public String name;
        public String remark;
        public Double share;
        public OpponentInsurer opponentInsurer;
        public List<String> notes = new ArrayList<>();
    }

    @XmlAccessorType(XmlAccessType.FIELD)
    public static class Road extends Section {
        public String roadId;
        public String name;
        public String remark;
        public Double share;
        public Reserve reserve;
        public List<String> notes = new ArrayList<>();
    }

    @XmlAccessorType(XmlAccessType.FIELD)
    public static class Opponent extends Section {
        public String opponentId;
        public String name;
        public String remark;
        public Double share;
        public Photo photo;
        public List<String> notes = new ArrayList<>();
    }

    @XmlAccessorType(XmlAccessType.FIELD)
    public static class OpponentInsurer extends Section {
        public String opponentInsurerId;
        public String name;
        public String remark;
        public Double share;
        public Vehicle vehicle;
        public List<String> notes = new ArrayList<>();
    }

    @XmlAccessorType(XmlAccessType.FIELD)
    public static class Lawyer extends Section {
        public String lawyerId;
        public String name;
        public String remark;
        public Double share;
        public Damage damage;
        public List<String> notes = new ArrayList<>();
    }

    @XmlAccessorType(XmlAccessType.FIELD)
    public static class Court extends Section {
        public String courtId;
        public String name;
        public String remark;
        public Double share;
        public Address address;
        public List<String> notes = new ArrayList<>();
    }

    @XmlAccessorType(XmlAccessType.FIELD)
    public static class Injury extends Section {
        public String injuryId;
        public String name;
        public String remark;
        public Double share;
        public Road road;
        public List<String> notes = new ArrayList<>();
    }

    @XmlAccessorType(XmlAccessType.FIELD)
    public static class Hospital extends Section {
        public String hospitalId;
        public String name;
        public String remark;
        public Double share;
        public Doctor doctor;
        public List<String> notes = new ArrayList<>();
    }

    @XmlAccessorType(XmlAccessType.FIELD)
    public static class Doctor extends Section {
        public String doctorId;
        public String name;
        public String remark;
        public Double share;
        public Letter letter;
        public List<String> notes = new ArrayList<>();
    }

    @XmlAccessorType(XmlAccessType.FIELD)
    public static class Treatment extends Section {
        public String treatmentId;
        public String name;
        public String remark;
        public Double share;
        public Insured insured;
        public List<String> notes = new ArrayList<>();
    }

    @XmlAccessorType(XmlAccessType.FIELD)
    public static class Reserve extends Section {
        public String reserveId;
        public String name;
        public String remark;
        public Double share;
        public Expert expert;
        public List<String> notes = new ArrayList<>();
    }

    @XmlAccessorType(XmlAccessType.FIELD)
    public static class Recourse extends Section {
        public String recourseId;
        public String name;
        public String remark;
        public Double share;
        public Account account;
        public List<String> notes = new ArrayList<>();
    }

    @XmlAccessorType(XmlAccessType.FIELD)
    public static class Portion extends Section {
        public String portionId;
        public String name;
        public String remark;
        public Double share;
        public Place place;
        public List<String> notes = new ArrayList<>();
    }

    @XmlAccessorType(XmlAccessType.FIELD)
    public static class Broker extends Section {
        public String brokerId;
        public String name;
        public String remark;
        public Double share;
        public Injury injury;
        public List<String> notes = new ArrayList<>();
    }

    @XmlAccessorType(XmlAccessType.FIELD)
    public static class Clerk extends Section {
        public String clerkId;
        public String name;
        public String remark;
        public Double share;
        public Broker broker;
        public List<String> notes = new ArrayList<>();
    }

    @XmlAccessorType(XmlAccessType.FIELD)
    public static class Letter extends Section {
        public String letterId;
        public String name;
        public String remark;
        public Double share;
        public FraudCheck fraudCheck;
        public List<String> notes = new ArrayList<>();
    }

    @XmlAccessorType(XmlAccessType.FIELD)
    public static class Attachment extends Section {
        public String attachmentId;
        public String name;
        public String remark;
        public Double share;
        public Keeper keeper;
        public List<String> notes = new ArrayList<>();
    }

    @XmlAccessorType(XmlAccessType.FIELD)
    public static class Photo extends Section {
        public String photoId;
        public String name;
        public String remark;
        public Double share;
        public Invoice invoice;
        public List<String> notes = new ArrayList<>();
    }

    @XmlAccessorType(XmlAccessType.FIELD)
    public static class Signature extends Section {
        public String signatureId;
        public String name;
        public String remark;
        public Double share;
        public Police police;
        public List<String> notes = new ArrayList<>();
    }

    @XmlAccessorType(XmlAccessType.FIELD)
    public static class Consent extends Section {
        public String consentId;
        public String name;
        public String remark;
        public Double share;
        public Lawyer lawyer;
        public List<String> notes = new ArrayList<>();
    }

    @XmlAccessorType(XmlAccessType.FIELD)
    public static class FraudCheck extends Section {
        public String fraudCheckId;
        public String name;
        public String remark;
        public Double share;
        public Recourse recourse;
        public List<String> notes = new ArrayList<>();
    }

    @XmlAccessorType(XmlAccessType.FIELD)
    public static class Audit extends Section {
        public String auditId;
        public String name;
        public String remark;
        public Double share;
        public Signature signature;
        public List<String> notes = new ArrayList<>();
    }
}
