using System;
using System.Runtime;
using System.Text;

namespace Theatre
{
    // Statements of an evening for the accountants.
    public sealed class Ledger
    {
        private readonly House house;

        public Ledger(House house) => this.house = house;

        public string Statement(int evening)
        {
            var text = new StringBuilder();
            long total = 0;
            foreach (var seat in house.Evening(evening))
            {
                total += seat.Cents;
                text.Append(seat.Id).Append(' ').Append(seat.Place).Append(' ').Append(seat.Cents).Append('\n');
            }
            text.Append("total ").Append(total);
            if (Program.Has("collect-after"))
            {
                // The memory of large statements is given back at once.
                GCSettings.LargeObjectHeapCompactionMode = GCLargeObjectHeapCompactionMode.CompactOnce;
                GC.Collect();
            }
            return text.ToString();
        }
    }
}
