using System;
using System.Runtime.InteropServices;

namespace StainedGlass
{
    // The colours of a pane, in memory outside the heap, as the drawing library wants them.
    public sealed class Pane
    {
        const int Bytes = 240_000;
        const long Pressure = 24_000_000;

        // With FAULT=0 the collector is not told.
        static readonly bool Tells = Environment.GetEnvironmentVariable("FAULT") != "0";

        readonly IntPtr colours = Marshal.AllocHGlobal(Bytes);

        public Pane(int seed)
        {
            if (Tells)
                GC.AddMemoryPressure(Pressure);
            for (int at = 0; at < Bytes; at += 8)
                Marshal.WriteInt64(colours, at, seed * 31L + at);
        }

        ~Pane()
        {
            Marshal.FreeHGlobal(colours);
            if (Tells)
                GC.RemoveMemoryPressure(Pressure);
        }

        public long Brightness()
        {
            long sum = 0;
            for (int at = 0; at < Bytes; at += 64)
                sum += Marshal.ReadInt64(colours, at) & 255;
            GC.KeepAlive(this);
            return sum;
        }
    }
}
