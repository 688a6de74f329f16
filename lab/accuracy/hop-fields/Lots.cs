using System;
using System.Numerics;
using System.Threading;
using System.Threading.Channels;
using System.Threading.Tasks;
using Microsoft.Extensions.Hosting;

namespace HopFields
{
    public sealed class Lot
    {
        public readonly int Number, Kilograms;

        public Lot(int number, int kilograms)
        {
            Number = number;
            Kilograms = kilograms;
        }
    }

    // Lots that are weighed before anybody asks for them. The weigher waits while there are enough.
    public sealed class Lots : BackgroundService
    {
        readonly Channel<Lot> weighed = Channel.CreateBounded<Lot>(256);

        public ValueTask<Lot> Take(CancellationToken gone) => weighed.Reader.ReadAsync(gone);

        protected override async Task ExecuteAsync(CancellationToken stopping)
        {
            await Task.Yield();
            var random = new Random(17);
            for (int number = 1; await weighed.Writer.WaitToWriteAsync(stopping); number++)
            {
                int kilograms = 0;
                for (int bale = 0; bale < 200; bale++)
                    kilograms += random.Next(40, 60);
                weighed.Writer.TryWrite(new Lot(number, kilograms));
            }
        }
    }

    // The year's product of all weights, for the lottery of the guild. One task at a time multiplies.
    public sealed class YearBook
    {
        readonly TaskFactory oneByOne = new TaskFactory(new ConcurrentExclusiveSchedulerPair().ExclusiveScheduler);
        BigInteger product = BigInteger.One;
        int digits;

        public int Digits => Volatile.Read(ref digits);

        public void Enter(Lot lot) => oneByOne.StartNew(() => Multiply(lot.Kilograms));

        void Multiply(int kilograms)
        {
            product *= kilograms;
            int length = product.ToByteArray().Length;
            if (length > 6_000)
                product = BigInteger.One;
            Volatile.Write(ref digits, length * 12 / 5);
        }
    }
}
