using System.Collections.Generic;

namespace Notary
{
    public sealed class Deed
    {
        public int Id { get; set; }
        public string Owner { get; set; }
        public string Parcel { get; set; }
        public int Cents { get; set; }
    }

    // The register of all deeds, which the office keeps in memory.
    public sealed class Register
    {
        public const int Deeds = 600000;
        private const int District = 60000;
        private readonly Deed[] all = new Deed[Deeds];

        public Register()
        {
            for (var id = 0; id < Deeds; id++)
                all[id] = new Deed { Id = id, Owner = "Owner " + id * 7L % 900001, Parcel = "Parcel " + id, Cents = 100 + id % 9000 };
        }

        public Deed Find(int id) => all[id % Deeds];

        public IEnumerable<Deed> InDistrict(int district)
        {
            var first = district % (Deeds / District) * District;
            for (var id = first; id < first + District; id++)
                yield return all[id];
        }
    }
}
