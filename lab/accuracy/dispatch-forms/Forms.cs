using System;
using System.Collections.Concurrent;
using System.Collections.Generic;
using System.IO;
using System.Xml.Serialization;

namespace DispatchForms
{
    public sealed class Address
    {
        public string Name, Street, Code, Town, Country;
        public bool Harbour;
    }

    public sealed class Duty
    {
        [XmlAttribute] public string Tariff;
        public decimal Rate, Amount;
        public DateTime Until;
    }

    public sealed class Piece
    {
        [XmlAttribute] public int Number;
        public string Content;
        public double Weight;
        public List<Duty> Duties = new List<Duty>();
        public Address Origin;
    }

    public sealed class Seal
    {
        public Guid Id;
        public byte[] Stamp;
        public DateTime At;
    }

    public sealed class Carrier
    {
        public string Name, Vessel;
        public Address Office;
        public List<Seal> Seals = new List<Seal>();
    }

    public sealed class Form
    {
        [XmlAttribute] public int Number;
        public Address From, To;
        public Carrier Carrier;
        public List<Piece> Pieces = new List<Piece>();
        [XmlArrayItem("line")] public List<string> Remarks = new List<string>();
    }

    // Writes forms as the authorities of twelve harbours want them.
    public sealed class FormWriter
    {
        const int Harbours = 12, Calls = 9;

        // With FAULT=0 there is one serializer for each harbour.
        static readonly bool Keeps = Environment.GetEnvironmentVariable("FAULT") == "0";

        readonly ConcurrentDictionary<int, XmlSerializer> kept = new ConcurrentDictionary<int, XmlSerializer>();

        // Writes the form of a voyage for each harbour on its way.
        public string WriteVoyage(int first, int number)
        {
            var text = new StringWriter();
            for (int harbour = first; harbour < first + Calls; harbour++)
                Write(text, harbour % Harbours, number);
            return text.ToString();
        }

        void Write(TextWriter text, int harbour, int number)
        {
            XmlSerializer serializer = Keeps ? kept.GetOrAdd(harbour, NewSerializer) : NewSerializer(harbour);
            serializer.Serialize(text, Fill(harbour, number));
        }

        static XmlSerializer NewSerializer(int harbour) => new XmlSerializer(typeof(Form), new XmlRootAttribute("dispatch") { Namespace = "urn:harbour:" + harbour });

        static Form Fill(int harbour, int number)
        {
            var office = new Address { Name = "office " + harbour, Street = "quay " + number % 80, Code = "" + (10_000 + harbour), Town = "harbour", Country = "N", Harbour = true };
            var form = new Form { Number = number, From = office, To = office, Carrier = new Carrier { Name = "carrier " + number % 9, Vessel = "vessel " + number % 70, Office = office } };
            for (int piece = 0; piece < 8; piece++)
                form.Pieces.Add(new Piece { Number = piece, Content = "tea", Weight = 3.5 * piece, Origin = office, Duties = { new Duty { Tariff = "T" + piece, Rate = 4, Amount = number % 900 } } });
            form.Remarks.Add("keep dry");
            return form;
        }
    }
}
