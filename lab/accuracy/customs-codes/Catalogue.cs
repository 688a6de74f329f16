using System.Collections.Generic;

namespace CustomsCodes
{
    public sealed class Duty
    {
        public int Code { get; set; }
        public string Chapter { get; set; }
        public decimal Percent { get; set; }
    }

    // All customs codes, chapter by chapter.
    public sealed class Catalogue
    {
        public const int Chapters = 32;
        const int Codes = 120; // of a chapter

        readonly Dictionary<int, Duty> duties = new Dictionary<int, Duty>();

        public Duty Find(int code) => duties.TryGetValue(code, out Duty duty) ? duty : null;

        public static Catalogue ReadFrom(Office office)
        {
            var all = new Catalogue();
            for (int chapter = 0; chapter < Chapters; chapter++)
            {
                string said = office.Ask("GET chapter-" + chapter);
                for (int n = 0; n < Codes; n++)
                {
                    int code = chapter * Codes + n;
                    all.duties[code] = new Duty { Code = code, Chapter = "chapter " + chapter, Percent = (said.Length + code * 7) % 230 / 10m };
                }
            }
            return all;
        }
    }
}
