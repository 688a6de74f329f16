using System.Text;

namespace DiagnosticScenarios
{
    public static class Work
    {
        // Hash mixes 64 KiB that many times: about 0.05 ms each.
        public static uint Hash(int rounds)
        {
            uint hash = 2166136261;
            for (var round = 0; round < rounds; round++)
                for (var i = 0; i < 1 << 16; i++)
                    hash = (hash ^ (uint)(i & 0xff)) * 16777619;
            return hash;
        }

        public static int Fill(int megabytes)
        {
            var written = 0;
            for (var i = 0; i < megabytes * 5; i++)
            {
                var row = new byte[200 * 1024];
                written += Encoding.ASCII.GetBytes("row " + i, 0, 5, row, 0);
            }
            return written;
        }
    }

    // A book that one request at a time may write in.
    public static class Ledger
    {
        private static readonly object gate = new object();
        private static uint sum;

        public static uint Append(int rounds)
        {
            lock (gate)
            {
                sum += Work.Hash(rounds);
                return sum;
            }
        }
    }
}
